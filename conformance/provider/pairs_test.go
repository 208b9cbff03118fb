package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"purser.example/conformance/harness/replay"
)

// party is a resource of the provider as it meets the others: on the same organization, team, members, project and
// workspace. It has two forms. The second one is a change on its side that leaves the other parties right.
type party struct {
	before, after string
}

// parties returns the resources of the provider by their kinds. Members are named by literal texts, as in configurations
// of people who keep members apart from teams: so nothing orders the destruction of the parties but what they reference.
func (w world) parties(t *testing.T) map[string]party {
	people, memberships := w.members(t, "ann", "ben")
	ann, ben := people[0].Username, people[1].Username
	expiry := func(days int) string {
		return fmt.Sprintf("  expired_at = %q\n", time.Now().UTC().AddDate(0, 0, days).Format(time.RFC3339))
	}
	set := func(attribute string, values ...string) string {
		return fmt.Sprintf("  %s = [\"%s\"]\n", attribute, strings.Join(values, `", "`))
	}
	// A resource that is called `this` with a part that stays, and one that has two forms.
	of := func(kind, stays, before, after string) party {
		text := func(form string) string {
			return fmt.Sprintf("resource %q \"this\" {\n%s%s}\n", kind, stays, form)
		}
		return party{text(before), text(after)}
	}
	// A resource that is there for ann, and afterwards for somebody else, too.
	forOne := func(kind, stays, first, second string) party {
		text := func(name, one string) string {
			return fmt.Sprintf("resource %q %q {\n%s  %s\n}\n", kind, name, stays, one)
		}
		return party{text("this", first), text("this", first) + text("other", second)}
	}
	const organization, team = "  organization = tfe_organization.this.name\n", "  team_id = tfe_team.this.id\n"
	const project, workspace = "  project_id = tfe_project.this.id\n", "  workspace_id = tfe_workspace.this.id\n"
	adopted := func(kind, id string) string { return fmt.Sprintf("import {\n  to = %s.this\n  id = %q\n}\n", kind, id) }
	all := map[string]party{
		"tfe_organization": of("tfe_organization", fmt.Sprintf("  name = %q\n  email = %q\n", w.organization, w.owner.Email),
			"  max_ttl_enabled = true\n", "  max_ttl_enabled = true\n  allow_force_delete_workspaces = true\n"),
		"tfe_organization_default_settings": of("tfe_organization_default_settings", organization,
			"  default_execution_mode = \"local\"\n", "  default_execution_mode = \"remote\"\n"),
		"tfe_organization_membership": forOne("tfe_organization_membership", organization,
			fmt.Sprintf("email = %q", people[0].Email), fmt.Sprintf("email = %q", "guest-of-"+people[0].Email)),
		"tfe_org_max_token_ttl_policy": of("tfe_org_max_token_ttl_policy", organization,
			"  team_token_max_ttl = \"1y\"\n", "  team_token_max_ttl = \"6mo\"\n  org_token_max_ttl = \"1y\"\n  audit_trail_token_max_ttl = \"1y\"\n"),
		"tfe_organization_token": of("tfe_organization_token", organization, "", expiry(30)),
		"tfe_audit_trail_token":  of("tfe_audit_trail_token", organization, "", expiry(30)),
		"tfe_team": of("tfe_team", organization+"  name = \"shared\"\n", "",
			"  visibility = \"organization\"\n  organization_access {\n    manage_workspaces = true\n    read_workspaces = true\n  }\n"),
		"tfe_team_member":              forOne("tfe_team_member", team, fmt.Sprintf("username = %q", ann), fmt.Sprintf("username = %q", ben)),
		"tfe_team_organization_member": forOne("tfe_team_organization_member", team, fmt.Sprintf("organization_membership_id = %q", memberships[0]), fmt.Sprintf("organization_membership_id = %q", memberships[1])),
		"tfe_team_members":             of("tfe_team_members", team, set("usernames", ann), set("usernames", ann, ben)),
		"tfe_team_organization_members": of("tfe_team_organization_members", team,
			set("organization_membership_ids", memberships[0]), set("organization_membership_ids", memberships...)),
		"tfe_team_token":  of("tfe_team_token", team+"  description = \"deploy\"\n", "", expiry(7)),
		"tfe_team_access": of("tfe_team_access", team+workspace, "  access = \"read\"\n", "  access = \"write\"\n"),
		"tfe_team_project_access": of("tfe_team_project_access", team+project, "  access = \"write\"\n",
			"  access = \"custom\"\n  workspace_access {\n    state_versions = \"read-outputs\"\n  }\n"),
		"tfe_project": of("tfe_project", organization+"  name = \"Networks\"\n",
			"  tags = { env = \"prod\" }\n", "  tags = { env = \"test\", tier = \"base\" }\n  description = \"Cables\"\n  auto_destroy_activity_duration = \"7d\"\n"),
		"tfe_project_settings": of("tfe_project_settings", project,
			"  default_execution_mode = \"remote\"\n", "  default_execution_mode = \"local\"\n"),
		"tfe_workspace": of("tfe_workspace", organization+project+"  name = \"network\"\n",
			"  tag_names = [\"blue\"]\n  tags = { env = \"dev\" }\n  description = \"Subnets\"\n",
			"  tag_names = [\"green\"]\n  tags = { tier = \"edge\" }\n  description = \"VPCs\"\n  auto_destroy_activity_duration = \"14d\"\n"),
		"tfe_workspace_settings": of("tfe_workspace_settings", workspace,
			"  execution_mode = \"local\"\n", "  execution_mode = \"remote\"\n  global_remote_state = true\n"),
	}
	for kind, id := range map[string]string{"tfe_organization": w.organization, "tfe_organization_membership": memberships[0]} {
		one := all[kind]
		all[kind] = party{one.before + adopted(kind, id), one.after}
	}
	return all
}

// common are the parties that the others are about, so each configuration has them.
var common = []string{"tfe_organization", "tfe_team", "tfe_project", "tfe_workspace"}

// rival is a pair that the provider cannot keep satisfied on any server after a change on one side. With an attribute, only
// those two are that both sides set, or one side sets and the other takes back.
type rival struct {
	Pair      [2]string `json:"pair"`
	Attribute string    `json:"attribute"`
	Reason    string    `json:"reason"`
}

// rivalForms returns the forms of rivals about an attribute.
func rivalForms(attribute string) map[string]party {
	workspace := func(attributes string) string {
		return "resource \"tfe_workspace\" \"this\" {\n  project_id = tfe_project.this.id\n  name = \"network\"\n  " + attributes + "\n}\n"
	}
	settings := func(attributes string) string {
		return "resource \"tfe_workspace_settings\" \"this\" {\n  workspace_id = tfe_workspace.this.id\n  " + attributes + "\n}\n"
	}
	modes := party{settings(`execution_mode = "local"`), settings(`execution_mode = "remote"`)}
	isOn := attribute + " = true"
	return map[string]map[string]party{
		"auto_apply":          {"tfe_workspace": {workspace(isOn), workspace(isOn)}, "tfe_workspace_settings": modes},
		"assessments_enabled": {"tfe_workspace": {workspace(isOn), workspace(isOn)}, "tfe_workspace_settings": modes},
		"tags": {
			"tfe_workspace":          {workspace(`tags = { env = "dev" }`), workspace(`tags = { env = "test" }`)},
			"tfe_workspace_settings": {settings(`tags = { env = "dev" }`), settings(`tags = { env = "test" }`)},
		},
		"description": {
			"tfe_workspace":          {workspace(`description = "Subnets"`), workspace(`description = "VPCs"`)},
			"tfe_workspace_settings": {settings(`description = "Subnets"`), settings(`description = "VPCs"`)},
		},
	}[attribute]
}

func rivals(t *testing.T) []rival {
	t.Helper()
	content, err := os.ReadFile("../rivals.json")
	must(t, err)
	var all []rival
	must(t, json.Unmarshal(content, &all))
	return all
}

// groups puts the kinds into as few configurations as a greedy search finds, so that each pair without rivals is in one.
func groups(kinds []string, areRivals func(one, other string) bool) [][]string {
	missing := map[[2]string]bool{}
	for at, one := range kinds {
		for _, other := range kinds[at+1:] {
			if !areRivals(one, other) {
				missing[[2]string{one, other}] = true
			}
		}
	}
	var found [][]string
	for len(missing) > 0 {
		first := slices.MinFunc(slices.Collect(maps.Keys(missing)), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
		group := []string{first[0], first[1]}
		for _, kind := range kinds {
			isRival := func(other string) bool { return areRivals(kind, other) }
			if !slices.Contains(group, kind) && !slices.ContainsFunc(group, isRival) {
				group = append(group, kind)
			}
		}
		slices.Sort(group)
		for at, one := range group {
			for _, other := range group[at+1:] {
				delete(missing, [2]string{one, other})
			}
		}
		found = append(found, group)
	}
	return found
}

// TestProviderPairs puts all pairs of resources into common configurations. A new resource must become a party, and a pair
// that the provider cannot keep satisfied must be in rivals.json.
func TestProviderPairs(t *testing.T) {
	all := replay.Of(client)
	kinds := slices.Sorted(maps.Keys(newWorld(t, all).parties(t)))
	for name := range programs {
		isResource := strings.HasPrefix(name, "tfe_") && !strings.Contains(name, ",") && name != "tfe_outputs"
		if isResource && !slices.Contains(kinds, name) {
			t.Errorf("%s has a program, and meets no other resource", name)
		}
	}
	known := rivals(t)
	areRivals := func(one, other string) bool {
		return slices.ContainsFunc(known, func(r rival) bool {
			return r.Attribute == "" && slices.Contains(r.Pair[:], one) && slices.Contains(r.Pair[:], other)
		})
	}
	for _, group := range groups(kinds, areRivals) {
		t.Run(fmt.Sprintf("%s and %d others", group[0], len(group)-1), func(t *testing.T) {
			t.Parallel()
			tryGroup(t, newWorld(t, all), group)
		})
	}
	t.Run("each with the common ones", func(t *testing.T) {
		t.Parallel()
		others := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return slices.Contains(common, kind) })
		tryEachAlone(t, newWorld(t, all), others)
	})
	for _, one := range known {
		t.Run(strings.TrimSpace(strings.Join(one.Pair[:], " and ")+" "+one.Attribute), func(t *testing.T) {
			t.Parallel()
			tryRivals(t, newWorld(t, all), one)
		})
	}
}

// meeting is a configuration of parties, each in one of its forms.
type meeting struct {
	directory
	parties map[string]party
	kinds   []string
	changed map[string]bool
}

func (w world) meet(t *testing.T, kinds []string) meeting {
	t.Helper()
	return meeting{w.newDirectory(t, w.owner.Token), w.parties(t), kinds, map[string]bool{}}
}

// turning returns the text of all parties, after the given ones have taken their other form.
func (m meeting) turning(kinds ...string) string {
	for _, kind := range kinds {
		m.changed[kind] = !m.changed[kind]
	}
	var text strings.Builder
	for _, kind := range m.kinds {
		one := m.parties[kind]
		text.WriteString(map[bool]string{false: one.before, true: one.after}[m.changed[kind]])
	}
	return text.String()
}

// sets are destroyed before the others. The provider reads who is in the team, removes all of them, and fails without any
// request if the team has just been emptied by another resource.
var sets = []string{"tfe_team_members", "tfe_team_organization_members"}

// without destroys some of the parties alone.
func (m *meeting) without(t *testing.T, kinds ...string) {
	t.Helper()
	m.kinds = slices.DeleteFunc(slices.Clone(m.kinds), func(kind string) bool { return slices.Contains(kinds, kind) })
	m.write(t, "main.tf", m.turning())
	m.ok(t, "apply", "-no-color", "-auto-approve")
}

// tryGroup applies the parties, changes them and destroys them. After each change the plan must be empty. The numbers of
// two parties differ in some digit of two, so that for each pair there is a change on one side alone. In the last step all
// go back.
func tryGroup(t *testing.T, w world, kinds []string) {
	m := w.meet(t, kinds)
	m.apply(t, m.turning())
	for digit := range bits.Len(uint(len(kinds) - 1)) {
		m.apply(t, m.turning(numbered(kinds, digit)...))
	}
	m.apply(t, m.turning(slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return !m.changed[kind] })...))
	m.without(t, sets...)
	m.destroy(t)
}

// numbered returns the kinds whose number has the digit.
func numbered(kinds []string, digit int) []string {
	var found []string
	for number, kind := range kinds {
		if number>>digit&1 == 1 {
			found = append(found, kind)
		}
	}
	return found
}

// tryEachAlone has one party after the other with the common ones alone, because another party can cover what two of them
// do to each other. The last ones come first: with the membership of ann, she leaves.
func tryEachAlone(t *testing.T, w world, kinds []string) {
	m := w.meet(t, nil)
	for _, kind := range slices.Backward(kinds) {
		m.kinds = append(slices.Clone(common), kind)
		m.apply(t, m.turning())
		m.apply(t, m.turning(kind))
		m.without(t, kind)
	}
	m.destroy(t)
}

// tryRivals applies two parties that agree with each other, and then changes each alone. One of the plans after that must
// not be empty, or else they are no rivals.
func tryRivals(t *testing.T, w world, r rival) {
	pair := r.Pair
	m := w.meet(t, slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(common), pair[:]...)))))
	maps.Copy(m.parties, rivalForms(r.Attribute))
	isSatisfied := true
	for _, turned := range [][]string{nil, pair[:1], pair[:], pair[:1]} {
		m.write(t, "main.tf", m.turning(turned...))
		m.ok(t, "apply", "-no-color", "-auto-approve")
		isSatisfied = isSatisfied && m.planned(t) == nil
	}
	if isSatisfied {
		t.Errorf("%s and %s are no rivals: every plan is empty", pair[0], pair[1])
	}
	m.without(t, sets...)
	m.destroy(t)
}
