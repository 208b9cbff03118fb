package provider

import (
	"fmt"
	"strings"
	"testing"
)

func tryProject(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	project := func(number int, attributes string) string {
		return fmt.Sprintf("resource \"tfe_project\" \"n%d\" {\n  %s\n}\n", number, attributes)
	}
	named := func(name string, attributes ...string) (row []string) {
		for _, each := range attributes {
			row = append(row, fmt.Sprintf("name = %q\n  %s", name, each))
		}
		return row
	}
	d.applyRows(t, "", project, [][]string{
		{`name = "Landing zone"`, `name = "Landing-zone 2"`},
		named("Described", `description = "What all others stand on"`, `description = ""`, ``),
		named("Tagged", `tags = { env = "prod", team = "" }`, `tags = { env = "test" }`, `tags = {}`),
		named("Short-lived", `auto_destroy_activity_duration = "14d"`, `auto_destroy_activity_duration = "2h"`, ``),
		named("Tagged later", ``, `tags = { env = "prod" }`, ``),
	})
	d.wantImported(t)
	d.apply(t, project(0, `name = "Landing zone"`))
	d.apply(t, project(0, "name = \"Landing zone\"\n  tags = { env = \"prod\" }")+`
resource "tfe_workspace" "this" {
  name       = "network"
  project_id = tfe_project.n0.id
}
data "tfe_project" "this" {
  name       = tfe_project.n0.name
  depends_on = [tfe_workspace.this]
  lifecycle {
    postcondition {
      condition     = self.id == tfe_project.n0.id && contains(self.workspace_ids, tfe_workspace.this.id) && self.workspace_names == toset(["network"]) && self.effective_tags == tomap({ env = "prod" })
      error_message = "the project reads otherwise"
    }
  }
}
data "tfe_projects" "all" {
  depends_on = [tfe_project.n0]
  lifecycle {
    postcondition {
      condition     = toset(self.projects[*].name) == toset(["Default Project", "Landing zone"])
      error_message = "the list of projects is another"
    }
  }
}
`)
	d.destroy(t)
}

func tryProjectSettings(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	project := "resource \"tfe_project\" \"this\" {\n  name = \"Landing zone\"\n}\n"
	with := func(attributes string) string {
		return project + "resource \"tfe_project_settings\" \"this\" {\n  project_id = tfe_project.this.id\n  " + attributes + "\n}\n"
	}
	for _, attributes := range []string{"", `default_execution_mode = "local"`, `default_execution_mode = "remote"`, ""} {
		d.apply(t, with(attributes))
	}
	d.refused(t, "default-agent-pool-id must be", with("default_execution_mode = \"agent\"\ndefault_agent_pool_id = \"apool-hmAyP66qk2AMVdbJ\""))
	d.apply(t, with(`default_execution_mode = "local"`))
	d.wantImported(t)
	d.apply(t, project)
	d.destroy(t)
}

// neighbours are the resources that the workspace under test refers to.
const neighbours = `
data "tfe_organization" "this" {
}
resource "tfe_project" "other" {
  name = "Landing zone"
}
resource "tfe_workspace" "consumer" {
  for_each = toset(["one", "other"])
  name     = "consumer-${each.key}"
}
`

func tryWorkspace(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	workspace := func(number int, attributes string) string {
		return fmt.Sprintf("resource \"tfe_workspace\" \"n%[1]d\" {\n  name = \"network-%[1]d\"\n  %[2]s\n}\n", number, attributes)
	}
	d.applyRows(t, neighbours, workspace, [][]string{
		{``},
		{`description = "VPCs and subnets"`, `description = "Networks"`, ``},
		{`allow_destroy_plan = false`, ``, `allow_destroy_plan = false`},
		{`auto_apply = true`, `auto_apply = false`, ``},
		{`auto_apply_run_trigger = true`, ``},
		{`file_triggers_enabled = false`, ``},
		{`queue_all_runs = false`, ``},
		{`speculative_enabled = false`, ``},
		{`structured_run_output_enabled = false`, ``},
		{`assessments_enabled = true`, `assessments_enabled = false`, ``},
		{`auto_destroy_activity_duration = "14d"`, `auto_destroy_activity_duration = "24h"`, ``},
		{`auto_destroy_at = "2099-01-01T00:00:00Z"`, `auto_destroy_at = "2099-02-01T00:00:00Z"`, `auto_destroy_activity_duration = "14d"`, `auto_destroy_at = "2099-01-01T00:00:00Z"`, ``},
		{`working_directory = "modules/network"`, ``, `working_directory = "other"`},
		{`terraform_version = "1.10.10"`, `terraform_version = "~> 1.10.0"`, `terraform_version = "latest"`, ``},
		{`trigger_prefixes = ["modules", "lib"]`, `trigger_prefixes = []`, `trigger_prefixes = ["lib"]`, `trigger_patterns = ["**/*.tf"]`},
		{`trigger_patterns = ["**/*.tf"]`, `trigger_patterns = ["lib/*"]`, `trigger_prefixes = ["modules"]`, `trigger_prefixes = []`},
		{``, `trigger_patterns = ["**/*.tf"]`, `trigger_patterns = []`, ``},
		{`execution_mode = "local"`, `execution_mode = "remote"`, ``, `execution_mode = "local"`},
		{`operations = false`, `operations = true`, ``, `operations = false`},
		{`project_id = tfe_project.other.id`, ``, `project_id = data.tfe_organization.this.default_project_id`},
		{`global_remote_state = true`, `global_remote_state = false`, ``},
		{
			"global_remote_state = false\nremote_state_consumer_ids = values(tfe_workspace.consumer)[*].id",
			"global_remote_state = false\nremote_state_consumer_ids = [tfe_workspace.consumer[\"one\"].id]",
			"global_remote_state = false\nremote_state_consumer_ids = []",
		},
		{``, `force_delete = true`},
	})
	d.wantImported(t)
	before := d.state(t)
	d.apply(t, neighbours+workspace(0, ""))
	for _, one := range before {
		if one.kind == "tfe_workspace" && strings.Contains(one.address, ".n1") {
			d.wantGone(t, one)
		}
	}
	for word, attributes := range map[string]string{
		"vcs-repo must be":      "vcs_repo {\n identifier = \"example/network\"\n oauth_token_id = \"ot-hmAyP66qk2AMVdbJ\"\n}",
		"agent-pool-id must be": "execution_mode = \"agent\"\nagent_pool_id = \"apool-hmAyP66qk2AMVdbJ\"",
	} {
		d.refused(t, word, neighbours+workspace(0, attributes))
	}
}

// tryWholeWorkspace sets everything at once, and reads it with the data source.
func tryWholeWorkspace(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	d.apply(t, neighbours+`
resource "tfe_workspace" "this" {
  name                          = "network"
  description                   = "Networks"
  auto_apply                    = true
  assessments_enabled           = true
  terraform_version             = "1.10.10"
  allow_destroy_plan            = false
  auto_apply_run_trigger        = true
  execution_mode                = "remote"
  file_triggers_enabled         = false
  queue_all_runs                = false
  speculative_enabled           = false
  structured_run_output_enabled = false
  working_directory             = "modules"
  trigger_prefixes              = ["modules"]
  source_name                   = "a tool"
  source_url                    = "https://tool.example.com"
  project_id                    = tfe_project.other.id
  tag_names                     = ["network", "prod"]
  tags                          = { env = "prod" }
  global_remote_state           = false
  remote_state_consumer_ids     = values(tfe_workspace.consumer)[*].id
  force_delete                  = true
}
data "tfe_workspace" "this" {
  name = tfe_workspace.this.name
  lifecycle {
    postcondition {
      condition = alltrue([
        self.id == tfe_workspace.this.id, self.description == "Networks", self.project_id == tfe_project.other.id, self.auto_apply,
        self.terraform_version == "1.10.10", self.tag_names == toset(["network", "prod"]), self.effective_tags == tomap({ env = "prod" }),
        self.remote_state_consumer_ids == toset(values(tfe_workspace.consumer)[*].id), self.html_url == tfe_workspace.this.html_url,
        self.execution_mode == "remote", self.resource_count == 0, !self.locked,
      ])
      error_message = "the workspace reads otherwise"
    }
  }
}
`)
	d.wantImported(t)
	d.destroy(t)
}

func tryWorkspaceTags(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	const project = `
resource "tfe_project" "tagged" {
  name = "Landing zone"
  tags = { env = "prod", cost = "42" }
}
`
	workspace := func(number int, attributes string) string {
		return fmt.Sprintf("resource \"tfe_workspace\" \"n%[1]d\" {\n  name = \"network-%[1]d\"\n  project_id = tfe_project.tagged.id\n  %[2]s\n}\n", number, attributes)
	}
	d.applyRows(t, project, workspace, [][]string{
		{``},
		{`tag_names = ["network", "prod"]`, `tag_names = ["prod"]`, `tag_names = []`},
		{`tag_names = ["network:core_1"]`, ``, `tag_names = ["other"]`},
		{`tags = { team = "core", empty = "" }`, `tags = { team = "edge" }`, `tags = {}`},
		{`tags = { env = "own" }`, `tags = {}`, `tags = { env = "own" }`},
		{``, "tag_names = [\"network\"]\nignore_additional_tag_names = true", "tag_names = [\"other\"]\nignore_additional_tag_names = true"},
		{``, "tags = { team = \"core\" }\nignore_additional_tags = true", "tags = { team = \"edge\" }\nignore_additional_tags = true"},
	})
	d.wantImported(t)
	const workspaces = project + `
resource "tfe_workspace" "this" {
  name       = "network"
  project_id = tfe_project.tagged.id
  tag_names  = ["network", "prod"]
  tags       = { team = "core" }
}
resource "tfe_workspace" "other" {
  name      = "other"
  tag_names = ["prod"]
  tags      = { env = "test" }
}
`
	lists := ""
	for name, query := range map[string]string{
		"by_name":          `names = ["network", "missing", "other"] == network,other`,
		"by_part_of_name":  `names = ["net*"] == network`,
		"by_tag":           `tag_names = ["network", "prod"] == network`,
		"by_excluded_tag":  "tag_names = [\"prod\"]\nexclude_tags = [\"network\"] == other",
		"by_binding":       "tag_filters {\n include = { env = \"prod\" }\n} == network",
		"by_binding_alone": "tag_filters {\n include = { team = \"\" }\n} == network",
		"without_binding":  "tag_filters {\n exclude = { env = \"*\" }\n} == ",
	} {
		arguments, want, _ := strings.Cut(query, " == ")
		lists += fmt.Sprintf(`
data "tfe_workspace_ids" %q {
  %s
  depends_on = [tfe_workspace.this, tfe_workspace.other]
  lifecycle {
    postcondition {
      condition     = join(",", sort(keys(self.ids))) == %q
      error_message = "%s: the workspaces are others: ${join(",", keys(self.ids))}"
    }
  }
}
`, name, arguments, want, name)
	}
	lists += `
data "tfe_organization_tags" "all" {
  depends_on = [tfe_workspace.this, tfe_workspace.other]
  lifecycle {
    postcondition {
      condition     = length([for tag in self.tags : tag if tag.name == "prod" && tag.workspace_count == 2]) == 1
      error_message = "the tags are others"
    }
  }
}
`
	// First without the lists, because they would be read while the workspaces above are still being destroyed.
	d.apply(t, workspaces)
	d.apply(t, workspaces+lists)
	d.destroy(t)
}

func tryWorkspaceSettings(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	workspace := func(number int, _ string) string {
		return fmt.Sprintf("resource \"tfe_workspace\" \"n%[1]d\" {\n  name = \"network-%[1]d\"\n}\n", number)
	}
	settings := func(number int, attributes string) string {
		return workspace(number, "") + fmt.Sprintf("resource \"tfe_workspace_settings\" \"n%[1]d\" {\n  workspace_id = tfe_workspace.n%[1]d.id\n  %[2]s\n}\n", number, attributes)
	}
	rows := [][]string{
		{``},
		{`execution_mode = "local"`, `execution_mode = "remote"`, ``, `execution_mode = "local"`},
		{`global_remote_state = true`, "global_remote_state = false\nproject_remote_state = true", "global_remote_state = false\nproject_remote_state = false"},
		{
			"global_remote_state = false\nremote_state_consumer_ids = values(tfe_workspace.consumer)[*].id",
			"global_remote_state = false\nremote_state_consumer_ids = [tfe_workspace.consumer[\"one\"].id]",
			`global_remote_state = false`,
			"global_remote_state = false\nremote_state_consumer_ids = [tfe_workspace.consumer[\"other\"].id]",
		},
		{`description = "Networks"`, `description = "VPCs"`},
		{`auto_apply = true`, `auto_apply = false`},
		{`assessments_enabled = true`, `assessments_enabled = false`},
		{`tags = { env = "prod" }`, `tags = { env = "test", team = "" }`, `tags = {}`, `tags = { env = "prod" }`},
	}
	d.applyRows(t, neighbours, settings, rows)
	d.wantImported(t)
	d.refused(t, "agent-pool-id must be", neighbours+settings(0, "execution_mode = \"agent\"\nagent_pool_id = \"apool-hmAyP66qk2AMVdbJ\""))
	d.applyRows(t, neighbours, workspace, rows)
	d.destroy(t)
}
