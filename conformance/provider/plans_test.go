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

// plan is as much of a plan as says what it would change.
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

// planned gives what differs between the configuration and what the provider has just read, and nil for nothing.
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

// wantNoChanges fails when the next plan changes anything that differences.json does not have.
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

// vanished names what differs when the provider reads nothing of a resource that it has made.
var vanished = map[string]string{"tfe_team_organization_member": "invited", "tfe_team_organization_members": "invited"}

// changed gives the attributes that a change concerns, by their names on the wire: as configured, and as read.
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

// leaves flattens a value into names as the wire has them: a block that is there once counts as its members.
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

// neverRead are arguments that only the provider knows, and texts that the server shows once: an import leaves them
// empty. A team keeps the name of its organization only when imported.
var neverRead = map[string][]string{
	"tfe_team":               {"organization"},
	"tfe_workspace":          {"force-delete", "ignore-additional-tag-names", "ignore-additional-tags"},
	"tfe_team_token":         {"token", "force-regenerate"},
	"tfe_organization_token": {"token", "force-regenerate"},
	"tfe_audit_trail_token":  {"token", "force-regenerate"},
}

// wantImported plans an import of everything in the directory's state into a fresh one: nothing is to be changed, and the
// same is read.
func (d directory) wantImported(t *testing.T) {
	t.Helper()
	// What one resource changes of another is in the state only now.
	d.ok(t, "apply", "-no-color", "-refresh-only", "-auto-approve")
	original := d.state(t)
	_, next := d.importing(t, original)
	for _, change := range next.ResourceChanges {
		wantSameAttributes(t, original.at(t, change.Address), change.Change.Before)
	}
}

// importing gives a fresh directory with the same configuration and a block for each resource, and what is planned there,
// which must be nothing else. Of resources of one kind every other one is imported by name, where the provider takes one.
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

// unlessEmpty is nil for all that older resources do not tell from what is not there.
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

// destroy destroys everything of the directory, and sees that the server has none of it any more.
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
