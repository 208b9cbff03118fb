package provider

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const stateFile = `{
  "version": 4, "terraform_version": "1.10.10", "serial": 1, "lineage": "0b5b9bd1-2a63-4d45-bf33-6a0d7b9d4b2a",
  "outputs": {
    "vpc": { "value": "vpc-1", "type": "string" },
    "ports": { "value": [80, 443], "type": ["list", "number"] },
    "subnets": { "value": { "a": { "id": "s-1", "public": true } }, "type": ["map", ["object", { "id": "string", "public": "bool" }]] },
    "password": { "value": "hunter2", "type": "string", "sensitive": true }
  },
  "resources": [
    {
      "mode": "managed", "type": "terraform_data", "name": "a", "provider": "provider[\"terraform.io/builtin/terraform\"]",
      "instances": [{ "schema_version": 0, "attributes": { "id": "1" } }]
    }
  ],
  "check_results": null
}`

// uploadState stores a state with outputs and one resource in a workspace.
func (w world) uploadState(t *testing.T, workspace string) {
	t.Helper()
	post := func(path, kind string, attributes map[string]any) {
		t.Helper()
		w.server.Create(t, w.owner.Token, "workspaces/"+workspace+path, kind, attributes)
	}
	sum := md5.Sum([]byte(stateFile))
	post("/actions/lock", "", map[string]any{"reason": "conformance"})
	post("/state-versions", "state-versions", map[string]any{
		"serial":  1,
		"md5":     hex.EncodeToString(sum[:]),
		"lineage": "0b5b9bd1-2a63-4d45-bf33-6a0d7b9d4b2a",
		"state":   base64.StdEncoding.EncodeToString([]byte(stateFile)),
	})
	post("/actions/unlock", "", nil)
}

const outputsOfNetwork = `
data "tfe_outputs" "network" {
  workspace = "network"
  lifecycle {
    postcondition {
      condition = alltrue([
        self.nonsensitive_values.vpc == "vpc-1",
        self.nonsensitive_values.ports[1] == 443,
        self.nonsensitive_values.subnets.a.public,
        !can(self.nonsensitive_values.password),
        nonsensitive(self.values.password) == "hunter2",
      ])
      error_message = "the outputs read otherwise"
    }
  }
}
`

func tryOutputs(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	people, _ := w.members(t, "reader", "plain")
	workspace := func(attributes string) string {
		return fmt.Sprintf(`
resource "tfe_workspace" "network" {
  name = "network"
  %s
}
resource "tfe_team" "readers" {
  name = "readers"
}
resource "tfe_team_member" "reader" {
  team_id  = tfe_team.readers.id
  username = %q
}
resource "tfe_team_access" "readers" {
  team_id      = tfe_team.readers.id
  workspace_id = tfe_workspace.network.id
  permissions {
    runs              = "read"
    variables         = "none"
    state_versions    = "read-outputs"
    sentinel_mocks    = "none"
    workspace_locking = false
    run_tasks         = false
  }
}
`, attributes, people[0].Username)
	}
	d.apply(t, workspace(""))
	id := d.state(t).at(t, "tfe_workspace.network").text("id")
	w.uploadState(t, id)
	d.apply(t, workspace("")+outputsOfNetwork)

	reader := w.newDirectory(t, people[0].Token)
	reader.apply(t, outputsOfNetwork)
	plain := w.newDirectory(t, people[1].Token)
	plain.write(t, "main.tf", outputsOfNetwork)
	if got := plain.run(t, "plan", "-no-color"); got.code == 0 {
		t.Errorf("a member without access has read outputs:\n%s", got.stdout)
	}

	// A workspace that contains resources can only be deleted by force.
	if got := d.run(t, "destroy", "-no-color", "-auto-approve", "-target=tfe_workspace.network"); got.code == 0 {
		t.Errorf("a workspace that holds resources was destroyed:\n%s", got.stdout)
	}
	if status, _ := w.get(t, "workspaces/"+id); status != http.StatusOK {
		t.Errorf("GET of the workspace that must not go: %d", status)
	}
	d.apply(t, workspace("force_delete = true"))
	d.destroy(t)
}

// Ephemeral resources exist since OpenTofu 1.11. Their values must be right during a run, and be nowhere after it.
const ephemeralOutputs = `
ephemeral "tfe_outputs" "network" {
  workspace = tfe_workspace.network.name
  lifecycle {
    postcondition {
      condition = alltrue([
        self.nonsensitive_values.vpc == "vpc-1",
        self.nonsensitive_values.subnets.a.public,
        !can(self.nonsensitive_values.password),
        self.values.password == "hunter2",
      ])
      error_message = "the outputs read otherwise"
    }
  }
}
ephemeral "tfe_team_token" "run" {
  team_id = tfe_team.readers.id
  lifecycle {
    postcondition {
      condition     = startswith(self.token, "purser_team_")
      error_message = "the token is none of a team"
    }
  }
}
`

func tryEphemeral(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	const resources = "resource \"tfe_workspace\" \"network\" {\n  name = \"network\"\n  force_delete = true\n}\nresource \"tfe_team\" \"readers\" {\n  name = \"readers\"\n}\n"
	d.apply(t, resources)
	w.uploadState(t, d.state(t).at(t, "tfe_workspace.network").text("id"))
	d.apply(t, resources+ephemeralOutputs)
	kept, err := os.ReadFile(filepath.Join(d.path, "terraform.tfstate"))
	must(t, err)
	for _, secret := range []string{"hunter2", "purser_team_"} {
		if strings.Contains(string(kept), secret) {
			t.Errorf("the state has %s", secret)
		}
	}
	team := d.state(t).at(t, "tfe_team.readers").text("id")
	if _, tokens := w.get(t, "teams/"+team+"/authentication-tokens"); !strings.Contains(tokens, `"data":[]`) {
		t.Errorf("the token of a run has outlived it: %s", tokens)
	}
	d.destroy(t)
}
