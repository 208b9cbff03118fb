package provider

import (
	"fmt"
	"strings"
	"testing"
)

// flags are those of organization_access in the provider.
var flags = []string{
	"manage_policies", "manage_policy_overrides", "delegate_policy_overrides", "manage_workspaces", "manage_vcs_settings",
	"manage_providers", "manage_modules", "manage_run_tasks", "manage_projects", "read_workspaces", "read_projects",
	"manage_membership", "manage_teams", "manage_organization_access", "access_secret_teams", "manage_agent_pools",
}

func tryTeam(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	team := func(number int, attributes string) string {
		return fmt.Sprintf("resource \"tfe_team\" \"n%[1]d\" {\n  name = \"network-%[1]d\"\n  %[2]s\n}\n", number, attributes)
	}
	d.applyRows(t, "", team, [][]string{
		{``},
		{`visibility = "organization"`, `visibility = "secret"`, `visibility = "organization"`, ``},
		{`sso_team_id = "0d5c1f6e"`, ``, `sso_team_id = "other"`},
		{`allow_member_token_management = false`, ``, `allow_member_token_management = false`},
		{``, `organization_access {}`, "organization_access {\n read_workspaces = true\n read_projects = true\n}", ``},
		{"organization_access {\n manage_policies = true\n}", "organization_access {\n manage_modules = true\n}", `organization_access {}`},
	})
	d.wantImported(t)
	this := func(name string) string {
		return fmt.Sprintf("resource \"tfe_team\" \"this\" {\n  name = %q\n}\n", name)
	}
	d.apply(t, this("renamed"))
	d.apply(t, this("network")+`
data "tfe_team" "this" {
  name = tfe_team.this.name
  lifecycle {
    postcondition {
      condition     = self.id == tfe_team.this.id
      error_message = "another team"
    }
  }
}
data "tfe_teams" "all" {
  depends_on = [tfe_team.this]
  lifecycle {
    postcondition {
      condition     = self.ids["network"] == tfe_team.this.id && contains(self.names, "owners")
      error_message = "the list of teams is another"
    }
  }
}
`)
	d.refused(t, "name is already used by another team of the organization", this("network")+"resource \"tfe_team\" \"other\" {\n name = \"network\"\n}\n")
	d.destroy(t)
}

// tryFlags creates a team for each flag, with this flag and the flags it requires. Then it switches to all others.
func tryFlags(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	with := func(on func(team, flag string) bool) string {
		var teams strings.Builder
		for _, team := range flags {
			fmt.Fprintf(&teams, "resource \"tfe_team\" %q {\n  name = %q\n  organization_access {\n", team, strings.ReplaceAll(team, "_", "-"))
			for _, flag := range flags {
				fmt.Fprintf(&teams, "    %s = %t\n", flag, on(team, flag))
			}
			teams.WriteString("  }\n}\n")
		}
		return teams.String()
	}
	needed := map[string][]string{
		"manage_projects": {"manage_workspaces", "read_workspaces", "read_projects"},
		"read_projects":   {"read_workspaces"},
	}
	alone := func(team, flag string) bool {
		for _, other := range needed[team] {
			if flag == other {
				return true
			}
		}
		return team == flag
	}
	d.apply(t, with(alone))
	d.wantImported(t)
	d.apply(t, with(func(team, flag string) bool { return true }))
	d.apply(t, with(func(team, flag string) bool { return false }))
	d.apply(t, with(alone))
	d.destroy(t)
}

func tryTeamAccess(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	workspace := func(number int, _ string) string {
		return fmt.Sprintf("resource \"tfe_workspace\" \"n%[1]d\" {\n  name = \"network-%[1]d\"\n}\n", number)
	}
	access := func(number int, level string) string {
		return workspace(number, "") + fmt.Sprintf("resource \"tfe_team_access\" \"n%[1]d\" {\n  team_id = tfe_team.this.id\n  workspace_id = tfe_workspace.n%[1]d.id\n  %[2]s\n}\n", number, level)
	}
	custom := func(runs, variables, states, mocks string, locking, tasks bool, more string) string {
		return fmt.Sprintf("permissions {\n runs = %q\n variables = %q\n state_versions = %q\n sentinel_mocks = %q\n workspace_locking = %t\n run_tasks = %t\n %s\n}",
			runs, variables, states, mocks, locking, tasks, more)
	}
	outputs := custom("read", "none", "read-outputs", "none", false, false, "")
	rows := [][]string{
		{`access = "read"`, `access = "plan"`, `access = "read"`},
		{`access = "plan"`, outputs, `access = "plan"`},
		{`access = "plan"`, `access = "write"`, `access = "admin"`},
		{`access = "write"`, `access = "admin"`, outputs},
		{`access = "admin"`, custom("apply", "write", "write", "read", true, true, "policy_overrides = true"), `access = "write"`},
		{outputs, custom("plan", "none", "read-outputs", "none", false, false, ""), `access = "read"`},
		{outputs, custom("read", "read", "read-outputs", "none", false, false, ""), custom("read", "write", "read-outputs", "none", false, false, "")},
		{outputs, custom("read", "none", "read", "none", false, false, ""), custom("read", "none", "write", "none", false, false, "")},
		{outputs, custom("read", "none", "read-outputs", "read", false, false, ""), outputs},
		{outputs, custom("read", "none", "read-outputs", "none", true, false, ""), outputs},
		{outputs, custom("read", "none", "read-outputs", "none", false, true, ""), outputs},
		{outputs, custom("read", "none", "read-outputs", "none", false, false, "policy_overrides = true"), custom("read", "none", "read-outputs", "none", false, false, "policy_overrides = false")},
		{custom("apply", "write", "write", "read", true, true, "policy_overrides = true"), outputs},
	}
	d.applyRows(t, readersTeam, access, rows)
	d.wantImported(t)
	d.apply(t, d.configuration(t)+`
data "tfe_team_access" "n8" {
  team_id      = tfe_team_access.n8.team_id
  workspace_id = tfe_workspace.n8.id
  lifecycle {
    postcondition {
      condition     = self.id == tfe_team_access.n8.id && self.access == "custom" && self.permissions[0].state_versions == "read-outputs"
      error_message = "the access reads otherwise"
    }
  }
}
`)
	d.withoutKind(t, "tfe_team_access", func() { d.applyRows(t, readersTeam, workspace, rows) })
	d.apply(t, readersTeam+access(0, outputs))
	d.destroy(t)
}

// withoutKind removes the resources of a kind from the configuration. Afterwards the server must have none of them.
func (d directory) withoutKind(t *testing.T, kind string, apply func()) {
	t.Helper()
	before := d.state(t)
	apply()
	for _, one := range before {
		if one.kind == kind {
			d.wantGone(t, one)
		}
	}
}

func tryTeamProjectAccess(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	project := func(number int, _ string) string {
		return fmt.Sprintf("resource \"tfe_project\" \"n%[1]d\" {\n  name = \"Landing zone %[1]d\"\n}\n", number)
	}
	access := func(number int, level string) string {
		return project(number, "") + fmt.Sprintf("resource \"tfe_team_project_access\" \"n%[1]d\" {\n  team_id = tfe_team.this.id\n  project_id = tfe_project.n%[1]d.id\n  %[2]s\n}\n", number, level)
	}
	onProject := func(settings, teams, sets string) string {
		return fmt.Sprintf("access = \"custom\"\nproject_access {\n settings = %q\n teams = %q\n variable_sets = %q\n}", settings, teams, sets)
	}
	onWorkspaces := func(runs, mocks, states, variables string, others bool) string {
		return fmt.Sprintf("access = \"custom\"\nworkspace_access {\n runs = %q\n sentinel_mocks = %q\n state_versions = %q\n variables = %q\n"+
			" create = %[5]t\n locking = %[5]t\n move = %[5]t\n delete = %[5]t\n run_tasks = %[5]t\n policy_overrides = %[5]t\n}", runs, mocks, states, variables, others)
	}
	rows := [][]string{
		{`access = "read"`, `access = "write"`, `access = "maintain"`},
		{`access = "maintain"`, `access = "admin"`, `access = "read"`},
		{`access = "write"`, `access = "custom"`, `access = "write"`},
		{`access = "admin"`, onProject("read", "none", "none"), `access = "maintain"`},
		{`access = "custom"`, onProject("update", "read", "read"), onProject("delete", "manage", "write")},
		// Only the name of the level changes.
		{`access = "admin"`, onProject("delete", "manage", "write"), `access = "custom"`},
		{onProject("update", "manage", "none"), onProject("read", "read", "write"), onProject("update", "none", "read")},
		{onWorkspaces("read", "none", "read-outputs", "none", false), onWorkspaces("plan", "read", "read", "read", true), onWorkspaces("apply", "read", "write", "write", false)},
		{onWorkspaces("apply", "read", "write", "write", true), onWorkspaces("read", "none", "none", "none", false), `access = "read"`},
		{
			"access = \"custom\"\nworkspace_access {\n create = true\n}", "access = \"custom\"\nworkspace_access {\n create = true\n move = true\n}",
			"access = \"custom\"\nworkspace_access {\n delete = true\n}",
		},
		{onProject("update", "manage", "read") + "\nworkspace_access {\n runs = \"plan\"\n create = true\n}", onProject("update", "manage", "read")},
	}
	d.applyRows(t, readersTeam, access, rows)
	d.wantImported(t)
	d.apply(t, d.configuration(t)+`
data "tfe_team_project_access" "n7" {
  team_id    = tfe_team_project_access.n7.team_id
  project_id = tfe_project.n7.id
  lifecycle {
    postcondition {
      condition     = self.id == tfe_team_project_access.n7.id && self.access == "custom" && self.workspace_access[0].state_versions == "write"
      error_message = "the access reads otherwise"
    }
  }
}
`)
	d.withoutKind(t, "tfe_team_project_access", func() { d.applyRows(t, readersTeam, project, rows[:3]) })
	d.destroy(t)
}
