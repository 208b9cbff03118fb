package v1

import (
	"maps"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness/replay"
)

func replayTeamAccess(t *testing.T, w world, all *replay.Replays) {
	workspace, team := w.newWorkspace(t, "network"), w.newTeam(t, "readers")
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			place, err := w.client.Workspaces.ReadByID(t.Context(), workspace.ID)
			must(t, err)
			who, err := w.client.Teams.Read(t.Context(), team.ID)
			must(t, err)
			grant := options[tfe.TeamAccessAddOptions](t, config)
			grant.Team, grant.Workspace = who, place
			created, err := w.client.TeamAccess.Add(t.Context(), grant)
			if err != nil {
				return replay.Answer{}, err
			}
			return reading(created.ID, created, err)
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			shown, err := w.client.TeamAccess.Read(t.Context(), id)
			return reading(id, shown, err)
		},
		// The provider always sends the level, but a detail only if it changes.
		Update: func(t *testing.T, id string, prior, config replay.Fields) (replay.Answer, error) {
			updated, err := w.client.TeamAccess.Update(t.Context(), id, options[tfe.TeamAccessUpdateOptions](t, changed(prior, config, "access")))
			return reading(id, updated, err)
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by the workspace's name and id": func(t *testing.T, id string, _ replay.Fields) (string, error) {
				found, err := w.client.Workspaces.Read(t.Context(), w.organization, workspace.Name)
				must(t, err)
				wantEqual(t, "workspace", found.ID, workspace.ID)
				return id, nil
			},
			"by the data source": func(t *testing.T, _ string, _ replay.Fields) (string, error) {
				listed, err := w.client.TeamAccess.List(t.Context(), &tfe.TeamAccessListOptions{WorkspaceID: workspace.ID})
				must(t, err)
				for _, access := range listed.Items {
					if access.Team.ID == team.ID {
						return access.ID, nil
					}
				}
				return "", tfe.ErrResourceNotFound
			},
		},
		Destroy: func(t *testing.T, id string) error { return unlessGone(w.client.TeamAccess.Remove(t.Context(), id)) },
	}
	level := func(name string) replay.Step { return replay.Step{Name: name, Config: replay.Fields{"access": name}} }
	custom := replay.Fields{
		"access": "custom", "runs": "read", "variables": "none", "state-versions": "read-outputs", "sentinel-mocks": "none",
		"workspace-locking": false, "run-tasks": false, "policy-overrides": false,
	}
	detail := func(name string, value any) replay.Step {
		return replay.Step{Name: name, Config: custom.With(replay.Fields{name: value})}
	}
	back := replay.Step{Name: "that detail back", Config: custom}
	all.Play(t, "tfe_team_access", resource, level("read"), level("plan"), level("write"), level("admin"),
		replay.Step{Name: "custom", Config: custom},
		detail("runs", "plan"), back, detail("runs", "apply"), back, detail("variables", "read"), back, detail("variables", "write"), back,
		detail("state-versions", "none"), back, detail("state-versions", "read"), back, detail("state-versions", "write"), back,
		detail("sentinel-mocks", "read"), back, detail("workspace-locking", true), back, detail("run-tasks", true), back,
		detail("policy-overrides", true), back, level("read"))
	all.Play(t, "tfe_team_access", resource, replay.Step{Name: "created as custom", Config: custom}, level("write"))
}

func replayTeamProjectAccess(t *testing.T, w world, all *replay.Replays) {
	project, team := w.newProject(t, "Landing zone"), w.newTeam(t, "readers")
	// The provider always sends both blocks, empty for a fixed level.
	blocks := func(config replay.Fields) replay.Fields {
		return replay.Fields{"project-access": replay.Fields{}, "workspace-access": replay.Fields{}}.With(config)
	}
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			place, err := w.client.Projects.Read(t.Context(), project.ID)
			must(t, err)
			who, err := w.client.Teams.Read(t.Context(), team.ID)
			must(t, err)
			grant := options[tfe.TeamProjectAccessAddOptions](t, blocks(config))
			grant.Team, grant.Project = who, place
			created, err := w.client.TeamProjectAccess.Add(t.Context(), grant)
			if err != nil {
				return replay.Answer{}, err
			}
			return reading(created.ID, created, err)
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			shown, err := w.client.TeamProjectAccess.Read(t.Context(), id)
			return reading(id, shown, err)
		},
		Update: func(t *testing.T, id string, prior, config replay.Fields) (replay.Answer, error) {
			update := replay.Fields{"access": config["access"]}
			for _, block := range []string{"project-access", "workspace-access"} {
				before, _ := prior[block].(replay.Fields)
				after, _ := config[block].(replay.Fields)
				update[block] = changed(before, after)
			}
			updated, err := w.client.TeamProjectAccess.Update(t.Context(), id, options[tfe.TeamProjectAccessUpdateOptions](t, update))
			return reading(id, updated, err)
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by id": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
			"by the data source": func(t *testing.T, _ string, _ replay.Fields) (string, error) {
				listed, err := w.client.TeamProjectAccess.List(t.Context(), tfe.TeamProjectAccessListOptions{ProjectID: project.ID})
				must(t, err)
				for _, access := range listed.Items {
					if access.Team.ID == team.ID {
						return access.ID, nil
					}
				}
				return "", tfe.ErrResourceNotFound
			},
		},
		Destroy: func(t *testing.T, id string) error {
			return unlessGone(w.client.TeamProjectAccess.Remove(t.Context(), id))
		},
	}
	level := func(name string) replay.Step { return replay.Step{Name: name, Config: replay.Fields{"access": name}} }
	ofProject := replay.Fields{"settings": "read", "teams": "none", "variable-sets": "none"}
	ofWorkspaces := replay.Fields{
		"runs": "read", "sentinel-mocks": "none", "state-versions": "read-outputs", "variables": "none", "create": false,
		"locking": false, "move": false, "delete": false, "run-tasks": false, "policy-overrides": false,
	}
	custom := replay.Fields{"access": "custom", "project-access": ofProject, "workspace-access": ofWorkspaces}
	steps := []replay.Step{level("read"), level("write"), level("maintain"), level("admin"), {Name: "custom", Config: custom}}
	for block, choices := range map[string]map[string][]any{
		"project-access": {
			"settings": {"update", "delete"}, "teams": {"read", "manage"}, "variable-sets": {"read", "write"},
		},
		"workspace-access": {
			"runs": {"plan", "apply"}, "sentinel-mocks": {"read"}, "state-versions": {"none", "read", "write"},
			"variables": {"read", "write"}, "create": {true}, "locking": {true}, "move": {true}, "delete": {true},
			"run-tasks": {true}, "policy-overrides": {true},
		},
	} {
		for name, values := range choices {
			for _, value := range values {
				details := custom[block].(replay.Fields).With(replay.Fields{name: value})
				steps = append(steps,
					replay.Step{Name: block + ", " + name, Config: custom.With(replay.Fields{block: details})},
					replay.Step{Name: "that detail back", Config: custom})
			}
		}
	}
	all.Play(t, "tfe_team_project_access", resource, append(steps, level("read"))...)
	all.Play(t, "tfe_team_project_access", resource, replay.Step{Name: "created as custom", Config: custom}, level("maintain"))
}

// changed returns the attributes that differ from the prior configuration, and those that are always sent.
func changed(prior, config replay.Fields, always ...string) replay.Fields {
	sent := maps.Clone(config)
	if sent == nil {
		sent = replay.Fields{}
	}
	for name, value := range prior {
		if sent[name] == value {
			delete(sent, name)
		}
	}
	for _, name := range always {
		sent[name] = config[name]
	}
	return sent
}
