package provider

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"purser.example/conformance/harness"
)

// tryImportCommand imports with `tofu import`, which people used before import blocks existed.
func tryImportCommand(t *testing.T, w world) {
	configuration := "resource \"tfe_team\" \"this\" {\n  name = \"readers\"\n}\nresource \"tfe_workspace\" \"this\" {\n  name = \"network\"\n}\n"
	d := w.newDirectory(t, w.owner.Token)
	d.apply(t, configuration)
	all := d.state(t)
	for form := range 2 {
		fresh := w.newDirectory(t, w.owner.Token)
		fresh.write(t, "main.tf", configuration)
		for _, one := range all {
			fresh.ok(t, "import", "-no-color", one.address, d.importIDs(t, all, one)[form])
		}
		next := fresh.planned(t)
		if next != nil {
			for _, change := range next.ResourceChanges {
				if change.Change.Actions[0] != "no-op" {
					want, got := changed(change)
					for name := range want {
						if name != "force-delete" {
							t.Errorf("%s: %s is %v after the import, not %v", change.Address, name, got[name], want[name])
						}
					}
				}
			}
			fresh.apply(t, configuration)
		}
	}
	missing := w.newDirectory(t, w.owner.Token)
	missing.write(t, "main.tf", configuration)
	if got := missing.run(t, "import", "-no-color", "tfe_workspace.this", "ws-AAAAAAAAAAAAAAAA"); got.code == 0 || !strings.Contains(got.stderr, "non-existent remote object") {
		t.Errorf("import of a workspace that is not there:\n%s%s", got.stdout, got.stderr)
	}
	d.destroy(t)
}

// tryWhatIsNotThere uses resources that this server lacks. The provider must report them at once and go on with others.
func tryWhatIsNotThere(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	d.write(t, "main.tf", `
resource "tfe_workspace" "network" {
  name = "network"
}
resource "tfe_variable" "region" {
  workspace_id = tfe_workspace.network.id
  key          = "region"
  value        = "eu"
  category     = "terraform"
}
resource "tfe_variable_set" "common" {
  name = "common"
}
resource "tfe_ssh_key" "deploy" {
  name = "deploy"
  key  = "none"
}
resource "tfe_agent_pool" "own" {
  name = "own"
}
resource "tfe_policy_set" "rules" {
  name = "rules"
}
resource "tfe_notification_configuration" "chat" {
  name             = "chat"
  workspace_id     = tfe_workspace.network.id
  destination_type = "generic"
  url              = "http://127.0.0.1:9/"
  token            = "none"
}
resource "tfe_run_trigger" "self" {
  workspace_id  = tfe_workspace.network.id
  sourceable_id = tfe_workspace.network.id
}
`)
	began := time.Now()
	got := d.run(t, "apply", "-no-color", "-auto-approve")
	if said := strings.Count(got.stderr, "resource not found"); got.code == 0 || said != 7 {
		t.Errorf("resource not found is said %d times, want 7:\n%s", said, got.stderr)
	}
	// A client retries for minutes if the answer is 5xx.
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the refusals took %s", took)
	}
	if left := d.state(t); len(left) != 1 {
		t.Errorf("%d resources are in the state, want the workspace alone", len(left))
	}
	d.destroy(t)
}

// wholeOrganization is a realistic configuration: teams, projects, workspaces and access from a few maps.
const wholeOrganization = `
variable "people" {
  type = map(string)
}

data "tfe_organization" "this" {
  name = %q
}

locals {
  teams = {
    platform = { manage = true, secret = true }
    network  = { manage = false, secret = false }
    security = { manage = false, secret = true }
    readers  = { manage = false, secret = %t }
  }
  projects = {
    "Landing zone" = { tags = { tier = "base" } }
    "Applications" = { tags = { tier = "apps" } }
  }
  workspaces = merge([
    for project in keys(local.projects) : {
      for stage in [%s] : "${replace(lower(project), " ", "-")}-${stage}" => { project = project, stage = stage }
    }
  ]...)
  access = {
    network  = { level = "write", stages = ["dev", "prod"] }
    security = { level = "read", stages = ["prod"] }
  }
  grants = merge([
    for team, given in local.access : {
      for name, workspace in local.workspaces : "${team}/${name}" => { team = team, workspace = name, level = given.level }
      if contains(given.stages, workspace.stage)
    }
  ]...)
}

resource "tfe_team" "each" {
  for_each   = local.teams
  name       = each.key
  visibility = each.value.secret ? "secret" : "organization"
  organization_access {
    manage_projects   = each.value.manage
    manage_workspaces = each.value.manage
    read_projects     = each.value.manage
    read_workspaces   = each.value.manage
  }
}

resource "tfe_team_organization_member" "each" {
  for_each                   = { for name, email in var.people : name => email if name != "guest" }
  team_id                    = tfe_team.each[each.key == "ann" ? "platform" : "readers"].id
  organization_membership_id = data.tfe_organization_membership.each[each.key].id
}

data "tfe_organization_membership" "each" {
  for_each = { for name, email in var.people : name => email if name != "guest" }
  email    = each.value
}

resource "tfe_organization_membership" "guest" {
  email = var.people.guest
}

resource "tfe_project" "each" {
  for_each    = local.projects
  name        = each.key
  description = "The workspaces of ${each.key}"
  tags        = each.value.tags
}

resource "tfe_workspace" "each" {
  for_each     = local.workspaces
  name         = each.key
  project_id   = tfe_project.each[each.value.project].id
  description  = "${each.value.project}, ${each.value.stage}"
  auto_apply   = each.value.stage == "dev"
  tag_names    = [each.value.stage]
  tags         = { stage = each.value.stage }
  force_delete = true
}

resource "tfe_workspace_settings" "each" {
  for_each                  = { for name, workspace in local.workspaces : name => workspace if workspace.project == "Landing zone" }
  workspace_id              = tfe_workspace.each[each.key].id
  execution_mode            = "local"
  global_remote_state       = false
  remote_state_consumer_ids = [tfe_workspace.each["applications-${each.value.stage}"].id]
  description               = tfe_workspace.each[each.key].description
  auto_apply                = tfe_workspace.each[each.key].auto_apply
  tags                      = tfe_workspace.each[each.key].tags
  lifecycle {
    ignore_changes = [description, auto_apply, tags]
  }
}

resource "tfe_team_access" "each" {
  for_each     = local.grants
  team_id      = tfe_team.each[each.value.team].id
  workspace_id = tfe_workspace.each[each.value.workspace].id
  access       = each.value.level
}

resource "tfe_team_access" "outputs" {
  for_each     = tfe_workspace.each
  team_id      = tfe_team.each["readers"].id
  workspace_id = each.value.id
  permissions {
    runs              = "read"
    variables         = "none"
    state_versions    = %q
    sentinel_mocks    = "none"
    workspace_locking = false
    run_tasks         = false
  }
}

resource "tfe_team_project_access" "each" {
  for_each   = tfe_project.each
  team_id    = tfe_team.each["security"].id
  project_id = each.value.id
  access     = "custom"
  project_access {
    settings = "read"
    teams    = "read"
  }
  workspace_access {
    runs           = "read"
    state_versions = "read-outputs"
  }
}
%s
`

const teamTokens = `
resource "tfe_team_token" "deploy" {
  for_each    = toset(["network", "platform"])
  team_id     = tfe_team.each[each.key].id
  description = "deploy"
}
`

// tryWholeOrganization applies, changes and destroys a configuration of some fifty resources, with each kind of token
// that people give to the provider.
func tryWholeOrganization(t *testing.T, w world) {
	callers := map[string]func(t *testing.T, w world) string{
		"an owner":               func(_ *testing.T, w world) string { return w.owner.Token },
		"the token of owners":    ownersToken,
		"the site administrator": func(_ *testing.T, w world) string { return w.server.Token },
	}
	for caller, token := range callers {
		t.Run(caller, func(t *testing.T) {
			t.Parallel()
			// The caller's tests wait for their parallel sub-tests, so each of these needs its own world.
			w := newWorld(t, w.all)
			people, _ := w.members(t, "ann", "ben")
			d := w.newDirectory(t, token(t, w))
			d.write(t, variables, fmt.Sprintf("people = {\n  ann = %q\n  ben = %q\n  guest = %q\n}\n",
				people[0].Email, people[1].Email, harness.Unique("guest")+"@example.com"))
			configuration := func(secret bool, stages, outputs, more string) string {
				return fmt.Sprintf(wholeOrganization, w.organization, secret, stages, outputs, more)
			}
			d.apply(t, configuration(false, `"dev", "prod"`, "read-outputs", teamTokens))
			d.apply(t, configuration(true, `"dev", "prod", "test"`, "read", teamTokens))
			d.wantAdopted(t)
			d.apply(t, configuration(true, `"prod"`, "read-outputs", ""))
			d.destroy(t)
		})
	}
}

// wantAdopted imports a whole configuration into a new state, and then plans and changes it.
func (d directory) wantAdopted(t *testing.T) {
	t.Helper()
	fresh, _ := d.importing(t, d.state(t))
	fresh.ok(t, "apply", "-no-color", "next.plan")
	fresh.wantNoChanges(t)
}

func ownersToken(t *testing.T, w world) string {
	t.Helper()
	_, body := w.get(t, "organizations/"+w.organization+"/teams?filter[names]=owners")
	_, rest, _ := strings.Cut(body, `"id":"team-`)
	id, _, _ := strings.Cut(rest, `"`)
	token := w.server.Create(t, w.owner.Token, "teams/team-"+id+"/authentication-token", "authentication-tokens", nil)
	text, _ := token.Attributes["token"].(string)
	return text
}
