package tofu

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// mainFile has one resource, which needs no provider from a registry, and an output of every type.
const mainFile = `
variable "size" {
  type    = number
  default = 1
}
resource "terraform_data" "network" {
  input = var.size
}
output "bool" { value = true }
output "list" { value = tolist(["a", "b"]) }
output "map" { value = tomap({ a = 1, b = 2 }) }
output "nested" { value = { subnets = [{ id = "subnet-1", zones = toset(["x", "y"]) }], none = null } }
output "number" { value = 1.5 }
output "object" { value = { id = "vpc-1", size = terraform_data.network.output } }
output "secret" {
  value     = "hunter2"
  sensitive = true
}
output "secret_object" {
  value     = { password = "hunter2", port = 5432 }
  sensitive = true
}
output "set" { value = toset(["b", "a"]) }
output "string" { value = "10.0.0.0/16 äöü \"quoted\" <&>" }
output "tuple" { value = ["a", 1, true, null] }
`

// outputsJSON is the output of tofu output -json after an apply.
const outputsJSON = `{
  "bool":   {"sensitive": false, "type": "bool", "value": true},
  "list":   {"sensitive": false, "type": ["list", "string"], "value": ["a", "b"]},
  "map":    {"sensitive": false, "type": ["map", "number"], "value": {"a": 1, "b": 2}},
  "nested": {"sensitive": false,
    "type": ["object", {"none": "dynamic", "subnets": ["tuple", [["object", {"id": "string", "zones": ["set", "string"]}]]]}],
    "value": {"none": null, "subnets": [{"id": "subnet-1", "zones": ["x", "y"]}]}},
  "number": {"sensitive": false, "type": "number", "value": 1.5},
  "object": {"sensitive": false, "type": ["object", {"id": "string", "size": "number"}], "value": {"id": "vpc-1", "size": 1}},
  "secret": {"sensitive": true, "type": "string", "value": "hunter2"},
  "secret_object": {"sensitive": true, "type": ["object", {"password": "string", "port": "number"}],
    "value": {"password": "hunter2", "port": 5432}},
  "set":    {"sensitive": false, "type": ["set", "string"], "value": ["a", "b"]},
  "string": {"sensitive": false, "type": "string", "value": "10.0.0.0/16 äöü \"quoted\" <&>"},
  "tuple":  {"sensitive": false, "type": ["tuple", ["string", "number", "bool", "dynamic"]], "value": ["a", 1, true, null]}
}`

func TestStateLivesFromApplyToDestroy(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		w := newWorld(t)
		d := w.newDirectory(t, w.owner, map[string]string{
			"main.tf":    mainFile,
			"backend.tf": w.backendBlock(kind, `name = "network"`),
		})
		d.ok(t, "init")
		workspace, err := w.client.Workspaces.Read(t.Context(), w.organization, "network")
		must(t, err)
		if workspace.Locked {
			t.Fatal("init has left the workspace locked")
		}
		wantText(t, d.ok(t, "apply", "-auto-approve"), "1 added, 0 changed, 0 destroyed")
		wantOutputs(t, d.ok(t, "output", "-json"), outputsJSON)
		wantText(t, d.ok(t, "output"), "secret = <sensitive>")
		wantText(t, d.ok(t, "output", "-raw", "secret"), "hunter2")

		first := pulled(t, d)
		d.ok(t, "apply", "-auto-approve")
		if again := pulled(t, d); again.Serial != first.Serial {
			t.Fatalf("an apply without changes has moved the serial from %d to %d", first.Serial, again.Serial)
		}
		d.ok(t, "apply", "-auto-approve", "-var", "size=2")
		second := pulled(t, d)
		if second.Serial <= first.Serial || second.Lineage != first.Lineage || len(second.Resources) != 1 {
			t.Fatalf("after a change: serial %d -> %d, lineage %s -> %s, %d resources",
				first.Serial, second.Serial, first.Lineage, second.Lineage, len(second.Resources))
		}
		wantText(t, d.ok(t, "destroy", "-auto-approve"), "1 destroyed")
		wantOutputs(t, d.ok(t, "output", "-json"), "{}")
		if left := pulled(t, d); len(left.Resources) != 0 {
			t.Fatalf("%d resources are left after destroy", len(left.Resources))
		}
		workspace, err = w.client.Workspaces.Read(t.Context(), w.organization, "network")
		must(t, err)
		if workspace.Locked {
			t.Fatal("destroy has left the workspace locked")
		}
	})
}

func TestStateIsPulledAndPushed(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		w := newWorld(t)
		d := w.newDirectory(t, w.owner, map[string]string{
			"main.tf":    `output "text" { value = "old" }`,
			"backend.tf": w.backendBlock(kind, `name = "network"`),
		})
		d.ok(t, "init")
		wantNoState(t, d)
		d.ok(t, "apply", "-auto-approve")
		old := d.ok(t, "state", "pull")
		file := filepath.Join(d.path, "edited.tfstate")

		write(t, file, edited(old, `"value": *"old"`, `"value":"new"`, `"serial": *\d+`, `"serial":7`))
		d.ok(t, "state", "push", file)
		wantText(t, d.ok(t, "output", "-raw", "text"), "new")
		if serial := pulled(t, d).Serial; serial < 7 {
			t.Fatalf("serial after the push: %d", serial)
		}
		write(t, file, old)
		d.refused(t, "serial", "state", "push", file)
		write(t, file, edited(old, `"lineage": *"`, `"lineage":"other-`))
		d.refused(t, "lineage", "state", "push", file)
		wantText(t, d.ok(t, "output", "-raw", "text"), "new")
		if kind == "cloud" {
			// OpenTofu 1.10 does not send -force to the server here, so the server must refuse.
			d.refused(t, "lineage", "state", "push", "-force", file)
			return
		}
		d.ok(t, "state", "push", "-force", file)
		wantText(t, d.ok(t, "output", "-raw", "text"), "old")
	})
}

// An older state, pushed by force, has a serial that exists, and so has the next apply.
func TestOlderStateIsPushedByForce(t *testing.T) {
	w := newWorld(t)
	d := w.newDirectory(t, w.owner, map[string]string{
		"main.tf": `
variable "text" {}
output "text" { value = var.text }
`,
		"backend.tf": w.backendBlock("remote", `name = "network"`),
	})
	d.ok(t, "init")
	apply := func(text string) string {
		t.Helper()
		d.ok(t, "apply", "-auto-approve", "-var", "text="+text)
		return d.ok(t, "state", "pull")
	}
	file := filepath.Join(d.path, "older.tfstate")
	write(t, file, apply("one"))
	for _, text := range []string{"two", "three", "four"} {
		apply(text)
	}
	d.refused(t, "serial", "state", "push", file)
	d.ok(t, "state", "push", "-force", file)
	wantText(t, d.ok(t, "output", "-raw", "text"), "one")
	for _, text := range []string{"two", "five"} {
		apply(text)
		wantText(t, d.ok(t, "output", "-raw", "text"), text)
	}
	workspace, err := w.client.Workspaces.Read(t.Context(), w.organization, "network")
	must(t, err)
	if workspace.Locked {
		t.Fatal("a push by force has left the workspace locked")
	}
}

func TestLocalStateIsTakenOver(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		w := newWorld(t)
		d := w.newDirectory(t, w.owner, map[string]string{"main.tf": mainFile})
		d.ok(t, "init")
		d.ok(t, "apply", "-auto-approve")
		write(t, filepath.Join(d.path, "backend.tf"), w.backendBlock(kind, `name = "network"`))
		d.okAnswering(t, []string{"yes", "yes"}, "init")
		wantOutputs(t, d.ok(t, "output", "-json"), outputsJSON)
		wantText(t, d.ok(t, "plan"), "No changes")
	})
}

// Outputs of more than a mebibyte are processed after the upload. The client retries until they are available.
func TestLargeOutputsAreReadOnceTheyAreProcessed(t *testing.T) {
	w := newWorld(t)
	d := w.newDirectory(t, w.owner, map[string]string{
		"main.tf": `
output "large" { value = join("", [for i in range(1024) : format("%02048d", i)]) }
output "last" { value = "reached" }
`,
		"backend.tf": w.backendBlock("cloud", `name = "network"`),
	})
	d.ok(t, "init")
	d.ok(t, "apply", "-auto-approve")
	var want strings.Builder
	for i := range 1024 {
		fmt.Fprintf(&want, "%02048d", i)
	}
	if got := d.ok(t, "output", "-raw", "large"); got != want.String() {
		t.Fatalf("got %d characters, want %d", len(got), want.Len())
	}
	wantText(t, d.ok(t, "output", "-raw", "last"), "reached")
}

func TestEncryptedStateHasReadableOutputs(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		w := newWorld(t)
		encryption := `
terraform {
  encryption {
    key_provider "pbkdf2" "phrase" { passphrase = "correct horse battery staple" }
    method "aes_gcm" "only" { keys = key_provider.pbkdf2.phrase }
    state { method = method.aes_gcm.only }
  }
}
`
		backend := w.backendBlock("cloud", `name = "network"`)
		writer := w.newDirectory(t, w.owner, map[string]string{
			"main.tf":       mainFile,
			"backend.tf":    w.backendBlock(kind, `name = "network"`),
			"encryption.tf": encryption,
		})
		writer.ok(t, "init")
		writer.ok(t, "apply", "-auto-approve")
		wantText(t, writer.ok(t, "plan"), "No changes")

		workspace, err := w.client.Workspaces.Read(t.Context(), w.organization, "network")
		must(t, err)
		current, err := w.client.StateVersions.ReadCurrent(t.Context(), workspace.ID)
		must(t, err)
		content, err := w.client.StateVersions.Download(t.Context(), current.DownloadURL)
		must(t, err)
		wantText(t, string(content), `"encrypted_data"`)

		reader, team := w.newMember(t, "reader")
		w.grant(t, team, "network", readOutputs())
		d := w.newDirectory(t, reader, map[string]string{"backend.tf": backend})
		d.ok(t, "init")
		wantOutputs(t, d.ok(t, "output", "-json"), outputsJSON)
	})
}

// snapshot has the parts of a state that the scenarios check.
type snapshot struct {
	Serial    int            `json:"serial"`
	Lineage   string         `json:"lineage"`
	Outputs   map[string]any `json:"outputs"`
	Resources []any          `json:"resources"`
}

// wantNoState expects an empty state, which OpenTofu prints if the server has none.
func wantNoState(t *testing.T, d directory) {
	t.Helper()
	state := pulled(t, d)
	if state.Serial != 0 || state.Lineage != "" || len(state.Outputs) > 0 || len(state.Resources) > 0 {
		t.Fatalf("there is a state: %v", state)
	}
}

func pulled(t *testing.T, d directory) snapshot {
	t.Helper()
	var state snapshot
	must(t, json.Unmarshal([]byte(d.ok(t, "state", "pull")), &state))
	return state
}

func wantOutputs(t *testing.T, got, want string) {
	t.Helper()
	var gotValue, wantValue any
	must(t, json.Unmarshal([]byte(got), &gotValue))
	must(t, json.Unmarshal([]byte(want), &wantValue))
	if !reflect.DeepEqual(gotValue, wantValue) {
		t.Fatalf("got outputs\n%s\nwant\n%s", got, want)
	}
}

// edited replaces patterns in a text, like a person in an editor: pattern, replacement, pattern, …
func edited(text string, replacements ...string) string {
	for i := 0; i < len(replacements); i += 2 {
		text = regexp.MustCompile(replacements[i]).ReplaceAllString(text, replacements[i+1])
	}
	return text
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(content), 0o600))
}
