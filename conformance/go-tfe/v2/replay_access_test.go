package v2

import (
	"reflect"
	"testing"

	"github.com/hashicorp/go-tfe/v2/api/models"
	"github.com/hashicorp/go-tfe/v2/api/teamprojects"
	"github.com/hashicorp/go-tfe/v2/api/teamworkspaces"

	"purser.example/conformance/harness/replay"
)

func replayTeamAccess(t *testing.T, w world, all *replay.Replays) {
	workspace, team := *w.newWorkspace(t, "network").GetId(), *w.newTeam(t, "readers").GetId()
	grant := func(config replay.Fields, relationships map[string]any) models.TeamWorkspacesEnvelopeable {
		return resourceBody[models.TeamWorkspacesEnvelopeable](t, models.CreateTeamWorkspacesEnvelopeFromDiscriminatorValue, "team-workspaces", config, relationships)
	}
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			return reading(w.client.API.TeamWorkspaces().Post(t.Context(), grant(config, map[string]any{
				"team": to("teams", team), "workspace": to("workspaces", workspace),
			}), nil))
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			return reading(w.client.API.TeamWorkspaces().ByTeam_workspace_id(id).Get(t.Context(), nil))
		},
		Update: func(t *testing.T, id string, prior, config replay.Fields) (replay.Answer, error) {
			return reading(w.client.API.TeamWorkspaces().ByTeam_workspace_id(id).Patch(t.Context(), grant(changed(prior, config), nil), nil))
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by the data source": func(t *testing.T, _ string, _ replay.Fields) (string, error) {
				listed, err := w.client.API.TeamWorkspaces().Get(t.Context(), with(teamworkspaces.TeamWorkspacesRequestBuilderGetQueryParameters{
					Filterworkspaceid: new(workspace),
				}))
				must(t, err)
				wantEqual(t, "number of grants", len(listed.GetData()), 1)
				return *listed.GetData()[0].GetId(), nil
			},
		},
		Destroy: func(t *testing.T, id string) error {
			return unlessGone(w.client.API.TeamWorkspaces().ByTeam_workspace_id(id).Delete(t.Context(), nil))
		},
	}
	level := func(name string) replay.Step { return replay.Step{Name: name, Config: replay.Fields{"access": name}} }
	custom := replay.Fields{
		"access": "custom", "runs": "read", "variables": "none", "state-versions": "read-outputs", "sentinel-mocks": "none",
		"workspace-locking": false, "run-tasks": false, "policy-overrides": false,
	}
	steps := []replay.Step{level("read"), level("plan"), level("write"), level("admin"), {Name: "custom", Config: custom}}
	for name, values := range map[string][]any{
		"runs": {"plan", "apply"}, "variables": {"read", "write"}, "state-versions": {"none", "read", "write"},
		"sentinel-mocks": {"read"}, "workspace-locking": {true}, "run-tasks": {true}, "policy-overrides": {true},
	} {
		for _, value := range values {
			steps = append(steps, replay.Step{Name: name, Config: custom.With(replay.Fields{name: value})}, replay.Step{Name: "that detail back", Config: custom})
		}
	}
	all.Play(t, "tfe_team_access", resource, append(steps, level("read"))...)
	all.Play(t, "tfe_team_access", resource, replay.Step{Name: "created as custom", Config: custom}, level("write"))
}

// changed returns the attributes that the provider sends with an update: the level, and each detail that changes.
func changed(prior, config replay.Fields) replay.Fields {
	sent := replay.Fields{}
	for name, value := range config {
		if name == "access" || !reflect.DeepEqual(prior[name], value) {
			sent[name] = value
		}
	}
	return sent
}

func replayTeamProjectAccess(t *testing.T, w world, all *replay.Replays) {
	project, team := w.newProject(t, "Landing zone"), *w.newTeam(t, "readers").GetId()
	// The provider always sends both blocks, empty for a fixed level.
	grant := func(config replay.Fields, relationships map[string]any) models.TeamProjectsEnvelopeable {
		whole := replay.Fields{"project-access": replay.Fields{}, "workspace-access": replay.Fields{}}.With(config)
		return resourceBody[models.TeamProjectsEnvelopeable](t, models.CreateTeamProjectsEnvelopeFromDiscriminatorValue, "team-projects", whole, relationships)
	}
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			return reading(w.client.API.TeamProjects().Post(t.Context(), grant(config, map[string]any{
				"team": to("teams", team), "project": to("projects", project),
			}), nil))
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			return reading(w.client.API.TeamProjects().ByTeam_project_id(id).Get(t.Context(), nil))
		},
		Update: func(t *testing.T, id string, prior, config replay.Fields) (replay.Answer, error) {
			sent := replay.Fields{"access": config["access"]}
			for _, block := range []string{"project-access", "workspace-access"} {
				before, _ := prior[block].(replay.Fields)
				after, _ := config[block].(replay.Fields)
				sent[block] = changed(before, after)
			}
			return reading(w.client.API.TeamProjects().ByTeam_project_id(id).Patch(t.Context(), grant(sent, nil), nil))
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by the data source": func(t *testing.T, _ string, _ replay.Fields) (string, error) {
				listed, err := w.client.API.TeamProjects().Get(t.Context(), with(teamprojects.TeamProjectsRequestBuilderGetQueryParameters{
					Filterprojectid: new(project),
				}))
				must(t, err)
				wantEqual(t, "number of grants", len(listed.GetData()), 1)
				return *listed.GetData()[0].GetId(), nil
			},
		},
		Destroy: func(t *testing.T, id string) error {
			return unlessGone(w.client.API.TeamProjects().ByTeam_project_id(id).Delete(t.Context(), nil))
		},
	}
	level := func(name string) replay.Step { return replay.Step{Name: name, Config: replay.Fields{"access": name}} }
	custom := replay.Fields{
		"access":         "custom",
		"project-access": replay.Fields{"settings": "read", "teams": "none", "variable-sets": "none"},
		"workspace-access": replay.Fields{
			"runs": "read", "sentinel-mocks": "none", "state-versions": "read-outputs", "variables": "none", "create": false,
			"locking": false, "move": false, "delete": false, "run-tasks": false, "policy-overrides": false,
		},
	}
	steps := []replay.Step{level("read"), level("write"), level("maintain"), level("admin"), {Name: "custom", Config: custom}}
	for block, choices := range map[string]map[string]any{
		"project-access": {"settings": "update", "teams": "manage", "variable-sets": "write"},
		"workspace-access": {
			"runs": "apply", "sentinel-mocks": "read", "state-versions": "write", "variables": "write", "create": true,
			"locking": true, "move": true, "delete": true, "run-tasks": true, "policy-overrides": true,
		},
	} {
		for name, value := range choices {
			details := custom[block].(replay.Fields).With(replay.Fields{name: value})
			steps = append(steps,
				replay.Step{Name: block + ", " + name, Config: custom.With(replay.Fields{block: details})},
				replay.Step{Name: "that detail back", Config: custom})
		}
	}
	all.Play(t, "tfe_team_project_access", resource, append(steps, level("read"))...)
}
