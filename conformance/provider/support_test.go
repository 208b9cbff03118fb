// Package provider drives a running Purser with the tfe provider itself, built from this module's tool directive, and
// OpenTofu. It applies, plans again, changes, imports and destroys configurations.
package provider

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"purser.example/conformance/harness"
	"purser.example/conformance/harness/replay"
)

// hostname is the host in PURSER_TOFU_CONFIG.
const hostname = "purser.example.com"

// client is the name in differences.json and requests.json.
const client = "tfe provider"

// world is a new organization for one test.
type world struct {
	server harness.Server
	// address is the one that the provider uses. The state contains it in links.
	address      string
	owner        harness.User
	organization string
	all          *replay.Replays
}

func newWorld(t *testing.T, all *replay.Replays) world {
	t.Helper()
	server := harness.Running(t)
	owner := server.NewUser(t, "owner")
	return world{
		server:       server,
		address:      server.Through(t, client),
		owner:        owner,
		organization: server.NewOrganization(t, owner),
		all:          all,
	}
}

// members creates people who are in the organization. It returns them and the ids of their memberships.
func (w world) members(t *testing.T, names ...string) (people []harness.User, memberships []string) {
	t.Helper()
	for _, name := range names {
		person := w.server.NewUser(t, name)
		people = append(people, person)
		memberships = append(memberships, w.server.Join(t, w.organization, w.owner, person))
	}
	return people, memberships
}

// directory is a working directory with a configuration. The state is a file in it.
type directory struct {
	world
	token       string
	path        string
	environment []string
}

// newDirectory prepares a working directory that uses the token. All requests stay on this machine's loopback.
func (w world) newDirectory(t *testing.T, token string) directory {
	t.Helper()
	settings := filepath.Join(t.TempDir(), "tofu.rc")
	content := strings.ReplaceAll(fromEnvironment(t, "PURSER_TOFU_CONFIG"), w.server.Address, w.address)
	content += fmt.Sprintf("\nprovider_installation {\n  dev_overrides { \"hashicorp/tfe\" = %q }\n}\n", fromEnvironment(t, "PURSER_PROVIDER"))
	must(t, os.WriteFile(settings, []byte(content), 0o600))
	d := directory{
		world: w,
		token: token,
		path:  t.TempDir(),
		environment: []string{
			"PATH=" + os.Getenv("PATH"),
			"HOME=" + t.TempDir(),
			"CHECKPOINT_DISABLE=1",
			"TF_CLI_CONFIG_FILE=" + settings,
			"TF_IN_AUTOMATION=1",
			"TFE_TOKEN=" + token,
			// Each run is short, and a fifth faster without garbage collection.
			"GOGC=off",
			// Nothing listens there, so a request that leaves loopback fails.
			"HTTP_PROXY=http://127.0.0.1:9",
			"HTTPS_PROXY=http://127.0.0.1:9",
		},
	}
	d.write(t, "provider.tf", fmt.Sprintf(`
terraform {
  required_providers {
    tfe = { source = "hashicorp/tfe" }
  }
}
provider "tfe" {
  hostname     = %q
  organization = %q
}
`, hostname, w.organization))
	d.environment = append(d.environment, "TF_REATTACH_PROVIDERS="+d.startProvider(t))
	return d
}

// reattach is how the provider says where it listens. It names itself by Terraform's registry, OpenTofu by its own.
var reattach = regexp.MustCompile(`TF_REATTACH_PROVIDERS='(.*)'`)

// startProvider starts the provider of a directory and returns what tofu needs to use it. Tofu would start and stop it
// several times in each run, which takes most of the time. The provider keeps its settings until the next run, so each
// directory has its own.
func (d directory) startProvider(t *testing.T) string {
	t.Helper()
	command := exec.Command(filepath.Join(fromEnvironment(t, "PURSER_PROVIDER"), "terraform-provider-tfe"), "-debug")
	command.Env = d.environment
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		must(t, command.Process.Kill())
		_ = command.Wait()
	})
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if found := reattach.FindStringSubmatch(lines.Text()); found != nil {
			return strings.ReplaceAll(found[1], "registry.terraform.io", "registry.opentofu.org")
		}
	}
	t.Fatalf("the provider does not start: %v", lines.Err())
	return ""
}

func (d directory) write(t *testing.T, name, content string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(d.path, name), []byte(content), 0o600))
}

// variables is the file with the values of a configuration's variables.
const variables = "terraform.tfvars"

func (d directory) copyVariables(t *testing.T, from directory) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(from.path, variables))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	must(t, err)
	d.write(t, variables, string(content))
}

// answer is the output of one run of tofu.
type answer struct {
	stdout string
	stderr string
	code   int
}

func (d directory) run(t *testing.T, arguments ...string) answer {
	t.Helper()
	command := exec.CommandContext(t.Context(), fromEnvironment(t, "PURSER_TOFU"), arguments...)
	command.Dir = d.path
	command.Env = d.environment
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return answer{stdout: stdout.String(), stderr: stderr.String(), code: command.ProcessState.ExitCode()}
}

// ok runs tofu, which must succeed, and returns its standard output.
func (d directory) ok(t *testing.T, arguments ...string) string {
	t.Helper()
	got := d.run(t, arguments...)
	if got.code != 0 {
		t.Fatalf("tofu %s failed:\n%s%s\nThe configuration:\n%s", strings.Join(arguments, " "), got.stdout, got.stderr, d.configuration(t))
	}
	return got.stdout
}

func (d directory) configuration(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(d.path, "main.tf"))
	must(t, err)
	return string(content)
}

// apply writes the configuration, applies it, and checks that the next plan changes nothing.
func (d directory) apply(t *testing.T, configuration string) {
	t.Helper()
	d.write(t, "main.tf", configuration)
	d.ok(t, "apply", "-no-color", "-auto-approve")
	d.wantNoChanges(t)
}

// applyRows applies resources of one kind. Each resource takes the texts of its row in turn, all rows at the same time.
// A row that has ended keeps its last text.
func (d directory) applyRows(t *testing.T, before string, resource func(number int, attributes string) string, rows [][]string) {
	t.Helper()
	steps := 0
	for _, row := range rows {
		steps = max(steps, len(row))
	}
	for step := range steps {
		configuration := before
		for number, row := range rows {
			configuration += resource(number, row[min(step, len(row)-1)])
		}
		d.apply(t, configuration)
	}
}

// refused applies a configuration that the server must refuse with the given words, and then restores the previous one.
// Line breaks in error boxes do not count.
func (d directory) refused(t *testing.T, words, configuration string) {
	t.Helper()
	before := d.configuration(t)
	d.write(t, "main.tf", configuration)
	got := d.run(t, "apply", "-no-color", "-auto-approve")
	unwrapped := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(got.stderr)), " ")
	if got.code == 0 || !strings.Contains(unwrapped, words) {
		t.Fatalf("want a refusal with %q, got:\n%s%s\nThe configuration:\n%s", words, got.stdout, got.stderr, configuration)
	}
	d.apply(t, before)
}

// get requests the path as the owner.
func (w world) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	status, answer := w.server.Call(t, w.owner.Token, http.MethodGet, path, nil)
	return status, string(answer)
}

func fromEnvironment(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is missing: `npm run conformance` sets it", name)
	}
	return value
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}
