package provider

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"purser.example/conformance/harness/replay"
)

// plan has the parts of a plan that say what it would change.
type plan struct {
	ResourceChanges []resourceChange `json:"resource_changes"`
}

type resourceChange struct {
	Address string `json:"address"`
	Mode    string `json:"mode"`
	Type    string `json:"type"`
	Change  struct {
		Actions   []string       `json:"actions"`
		Before    map[string]any `json:"before"`
		After     map[string]any `json:"after"`
		Importing *struct{}      `json:"importing"`
	} `json:"change"`
}

// planned returns how the configuration differs from what the provider has just read, or nil if it does not.
func (d directory) planned(t *testing.T) *plan {
	t.Helper()
	got := d.run(t, "plan", "-no-color", "-detailed-exitcode", "-out=next.plan")
	switch got.code {
	case 0:
		return nil
	case 2:
		var next plan
		must(t, json.Unmarshal([]byte(d.ok(t, "show", "-json", "next.plan")), &next))
		next.ResourceChanges = slices.DeleteFunc(next.ResourceChanges, func(c resourceChange) bool { return c.Mode == "data" })
		return &next
	default:
		t.Fatalf("tofu plan failed:\n%s%s\nThe configuration:\n%s", got.stdout, got.stderr, d.configuration(t))
		return nil
	}
}

// wantNoChanges fails if the next plan changes anything that is not in differences.json.
func (d directory) wantNoChanges(t *testing.T) {
	t.Helper()
	next := d.planned(t)
	if next == nil {
		return
	}
	changes := slices.DeleteFunc(next.ResourceChanges, func(c resourceChange) bool { return slices.Equal(c.Change.Actions, []string{"no-op"}) })
	if len(changes) == 0 {
		t.Fatalf("the plan is not empty, but changes no resource:\n%s", d.ok(t, "show", "-no-color", "next.plan"))
	}
	for _, change := range changes {
		want, got := changed(change)
		d.all.Compare(t, change.Type, want, got)
	}
	if t.Failed() {
		t.Fatalf("after apply there is a difference:\n%s\nThe configuration:\n%s", d.ok(t, "show", "-no-color", "next.plan"), d.configuration(t))
	}
}

// vanished names the difference for a resource that the provider has created but cannot read.
var vanished = map[string]string{"tfe_team_organization_member": "invited", "tfe_team_organization_members": "invited"}

// changed returns the attributes of a change by their names in the JSON: as configured, and as read.
func changed(change resourceChange) (want, got replay.Fields) {
	if change.Change.Before == nil {
		name := vanished[change.Type]
		if name == "" {
			name = "the whole of it"
		}
		return replay.Fields{name: true}, replay.Fields{name: nil}
	}
	want, got = replay.Fields{}, replay.Fields{}
	before, after := leaves(change.Change.Before), leaves(change.Change.After)
	for name, value := range after {
		if !reflect.DeepEqual(value, before[name]) {
			want[name], got[name] = value, before[name]
		}
	}
	return want, got
}

// leaves flattens a value to names as in the JSON. A block that occurs once is replaced by its members.
func leaves(value map[string]any) map[string]any {
	flat := map[string]any{}
	for name, member := range value {
		name = strings.ReplaceAll(name, "_", "-")
		list, isList := member.([]any)
		if isList && len(list) == 1 {
			if block, isBlock := list[0].(map[string]any); isBlock {
				for inner, leaf := range leaves(block) {
					flat[name+"."+inner] = leaf
				}
				continue
			}
		}
		flat[name] = member
	}
	return flat
}

// neverRead lists arguments that only the provider knows, and texts that the server shows once. After an import they
// are empty. A team has the name of its organization only after an import.
var neverRead = map[string][]string{
	"tfe_team":               {"organization"},
	"tfe_workspace":          {"force-delete", "ignore-additional-tag-names", "ignore-additional-tags"},
	"tfe_team_token":         {"token", "force-regenerate"},
	"tfe_organization_token": {"token", "force-regenerate"},
	"tfe_audit_trail_token":  {"token", "force-regenerate"},
}

// wantImported plans an import of the whole state into a new one. It must change nothing and read the same values.
func (d directory) wantImported(t *testing.T) {
	t.Helper()
	// Refresh the state first: changes that one resource makes to another are not in it yet.
	d.ok(t, "apply", "-no-color", "-refresh-only", "-auto-approve")
	original := d.state(t)
	_, next := d.importing(t, original)
	for _, change := range next.ResourceChanges {
		wantSameAttributes(t, original.at(t, change.Address), change.Change.Before)
	}
}

// importing creates a new directory with the same configuration and an import block for each resource, and returns the
// plan. The plan must only contain imports. Every other resource of a kind is imported by name, if the provider
// supports that.
func (d directory) importing(t *testing.T, original state) (directory, *plan) {
	t.Helper()
	fresh := d.newDirectory(t, d.token)
	fresh.write(t, "main.tf", d.configuration(t))
	fresh.copyVariables(t, d)
	var blocks strings.Builder
	seen := map[string]int{}
	for _, one := range original {
		ids := d.importIDs(t, original, one)
		fmt.Fprintf(&blocks, "import {\n  to = %s\n  id = %q\n}\n", one.address, ids[seen[one.kind]%len(ids)])
		seen[one.kind]++
	}
	fresh.write(t, "imports.tf", blocks.String())
	next := fresh.planned(t)
	if next == nil {
		t.Fatalf("there is nothing to import:\n%s", blocks.String())
	}
	for _, change := range next.ResourceChanges {
		d.wantOnlyImport(t, change)
	}
	return fresh, next
}

func (d directory) wantOnlyImport(t *testing.T, change resourceChange) {
	t.Helper()
	if change.Change.Importing == nil {
		t.Errorf("%s is not imported but: %s", change.Address, change.Change.Actions)
		return
	}
	want, got := changed(change)
	d.all.Compare(t, change.Type, want.Without(neverRead[change.Type]...), got)
}

func wantSameAttributes(t *testing.T, original instance, imported map[string]any) {
	t.Helper()
	before, after := leaves(original.attributes), leaves(imported)
	for name := range before {
		if !reflect.DeepEqual(unlessEmpty(before[name]), unlessEmpty(after[name])) && !slices.Contains(neverRead[original.kind], name) {
			t.Errorf("%s: %s is %v, and %v when imported", original.address, name, before[name], after[name])
		}
	}
}

// unlessEmpty returns nil for values that older resources cannot distinguish from an absent value.
func unlessEmpty(value any) any {
	switch value := value.(type) {
	case string:
		if value == "" {
			return nil
		}
	case bool:
		if !value {
			return nil
		}
	case []any:
		if len(value) == 0 {
			return nil
		}
	case map[string]any:
		if len(value) == 0 {
			return nil
		}
	}
	return value
}

// destroy destroys everything in the directory, and checks that the server no longer has any of it.
func (d directory) destroy(t *testing.T) {
	t.Helper()
	was := d.state(t)
	d.ok(t, "destroy", "-no-color", "-auto-approve")
	for _, one := range was {
		d.wantGone(t, one)
	}
	if left := d.state(t); len(left) > 0 {
		t.Errorf("destroy has left %d resources in the state", len(left))
	}
}
