package provider

import (
	"fmt"
	"strings"
	"testing"

	"purser.example/conformance/harness"
)

const readersTeam = `
resource "tfe_team" "this" {
  name = "readers"
}
`

func tryTeamMember(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	people, _ := w.members(t, "ann", "ben")
	one := func(username string) string {
		return readersTeam + fmt.Sprintf("resource \"tfe_team_member\" \"this\" {\n  team_id = tfe_team.this.id\n  username = %q\n}\n", username)
	}
	d.apply(t, one(people[0].Username))
	d.apply(t, one(people[1].Username))
	d.wantImported(t)
	d.withoutKind(t, "tfe_team_member", func() { d.apply(t, readersTeam) })
	d.refused(t, "id does not name an active member of the organization", one("nobody-has-this-name"))
	d.apply(t, one(people[0].Username))
	d.destroy(t)
}

func tryTeamMembers(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	people, _ := w.members(t, "ann", "ben", "col")
	members := func(people ...harness.User) string {
		var names []string
		for _, person := range people {
			names = append(names, fmt.Sprintf("%q", person.Username))
		}
		return readersTeam + "resource \"tfe_team_members\" \"this\" {\n  team_id = tfe_team.this.id\n  usernames = [" + strings.Join(names, ", ") + "]\n}\n"
	}
	d.apply(t, members(people[0]))
	d.apply(t, members(people[0], people[1]))
	d.apply(t, members(people[2], people[1]))
	d.wantImported(t)
	d.withoutKind(t, "tfe_team_members", func() { d.apply(t, readersTeam) })
	d.apply(t, members(people...))
	// The provider wants to remove the service account, too. It stays, and nothing fails.
	d.write(t, "main.tf", members(people...)+"resource \"tfe_team_token\" \"this\" {\n  team_id = tfe_team.this.id\n}\n")
	d.ok(t, "apply", "-no-color", "-auto-approve")
	d.ok(t, "apply", "-no-color", "-auto-approve")
	d.destroy(t)
}

func tryTeamOrganizationMember(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	people, _ := w.members(t, "ann")
	// Existing members are imported first, as in any organization that is older than its configuration.
	ann := fmt.Sprintf("resource \"tfe_organization_membership\" \"ann\" {\n  email = %q\n}\n", people[0].Email)
	adopted := fmt.Sprintf("import {\n  to = tfe_organization_membership.ann\n  id = \"%s/%s\"\n}\n", w.organization, people[0].Email)
	member := func(name string) string {
		return fmt.Sprintf("resource \"tfe_team_organization_member\" %[1]q {\n  team_id = tfe_team.this.id\n  organization_membership_id = tfe_organization_membership.%[1]s.id\n}\n", name)
	}
	d.apply(t, readersTeam+ann+adopted+member("ann"))
	d.apply(t, readersTeam+ann+member("ann"))
	d.wantImported(t)
	d.withoutKind(t, "tfe_team_organization_member", func() { d.apply(t, readersTeam+ann) })
	invited := fmt.Sprintf("resource \"tfe_organization_membership\" \"invited\" {\n  email = %q\n}\n", harness.Unique("invited")+"@example.com")
	d.apply(t, readersTeam+ann+invited+member("ann")+member("invited"))
	// In the other dialect the provider does not read invited members, and so never removes them.
	if d.all.Dialect() == "current" {
		d.wantImported(t)
		d.withoutKind(t, "tfe_team_organization_member", func() { d.apply(t, readersTeam+ann+invited) })
	}
	d.destroy(t)
}

func tryTeamOrganizationMembers(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	_, memberships := w.members(t, "ann", "ben", "col")
	members := func(ids ...string) string {
		return readersTeam + "resource \"tfe_team_organization_members\" \"this\" {\n  team_id = tfe_team.this.id\n  organization_membership_ids = [\"" + strings.Join(ids, `", "`) + "\"]\n}\n"
	}
	d.apply(t, members(memberships[0]))
	d.apply(t, members(memberships[:2]...))
	d.apply(t, members(memberships[1:]...))
	d.wantImported(t)
	// The service account of a team with a token does not count as a member here.
	token := "resource \"tfe_team_token\" \"this\" {\n  team_id = tfe_team.this.id\n  description = \"deploy\"\n}\n"
	d.apply(t, members(memberships[1:]...)+token)
	d.apply(t, members(memberships[0])+token)
	d.apply(t, members(memberships[0]))
	d.withoutKind(t, "tfe_team_organization_members", func() { d.apply(t, readersTeam) })
	invited := fmt.Sprintf(`
resource "tfe_organization_membership" "invited" {
  email = %q
}
resource "tfe_team_organization_members" "this" {
  team_id                     = tfe_team.this.id
  organization_membership_ids = [tfe_organization_membership.invited.id]
}
`, harness.Unique("invited")+"@example.com")
	d.apply(t, readersTeam+invited)
	if d.all.Dialect() == "current" {
		d.wantImported(t)
	}
	d.destroy(t)
}
