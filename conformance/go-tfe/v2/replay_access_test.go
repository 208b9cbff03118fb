package v2

import (
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/go-tfe/v2/api/models"
	"github.com/hashicorp/go-tfe/v2/api/organizations"
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

// changed are the attributes that the provider sends with an update: the level, and a detail when it changes.
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
	// Both blocks are always sent, empty for a fixed level.
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

func projectBody(t *testing.T, config replay.Fields) models.ProjectsEnvelopeable {
	t.Helper()
	return resourceBody[models.ProjectsEnvelopeable](t, models.CreateProjectsEnvelopeFromDiscriminatorValue, "projects", config, nil)
}

func (w world) newProject(t *testing.T, name string) string {
	t.Helper()
	created, err := w.in(w.client).Projects().Post(t.Context(), projectBody(t, replay.Fields{"name": name}), nil)
	must(t, err)
	return *created.GetData().GetId()
}

func replayProject(t *testing.T, w world, all *replay.Replays) {
	one := w.client.API.Projects().ByProject_id
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			created, err := reading(w.in(w.client).Projects().Post(t.Context(), projectBody(t, config.Without("tags")), nil))
			if err != nil {
				return replay.Answer{}, err
			}
			w.bind(t, created.ID, config)
			return created, nil
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			shown, err := reading(one(id).Get(t.Context(), nil))
			if err != nil {
				return replay.Answer{}, err
			}
			shown.Fields = shown.Fields.With(replay.Fields{"tags": w.boundTo(t, id)})
			return shown, nil
		},
		Update: func(t *testing.T, id string, _, config replay.Fields) (replay.Answer, error) {
			updated, err := reading(one(id).Patch(t.Context(), projectBody(t, config.Without("tags")), nil))
			if err != nil {
				return replay.Answer{}, err
			}
			w.bind(t, id, config)
			return updated, nil
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by name, in the data source": func(t *testing.T, _ string, config replay.Fields) (string, error) {
				listed, err := w.in(w.client).Projects().Get(t.Context(), with(organizations.ItemProjectsRequestBuilderGetQueryParameters{
					Filternames: new(config["name"].(string)),
				}))
				must(t, err)
				wantEqual(t, "number of projects", len(listed.GetData()), 1)
				return *listed.GetData()[0].GetId(), nil
			},
		},
		Destroy: func(t *testing.T, id string) error { return unlessGone(one(id).Delete(t.Context(), nil)) },
	}
	base := replay.Fields{"name": "Landing zone", "tags": []any{}}
	with := func(name string, value any) replay.Step {
		return replay.Step{Name: name, Config: base.With(replay.Fields{name: value})}
	}
	all.Play(t, "tfe_project", resource,
		replay.Step{Name: "as configured with a name alone", Config: base},
		with("name", "Landing zones"), with("description", "Networks"), with("description", ""),
		with("tags", []any{"env", "prod", "team", ""}), with("tags", []any{"env", "test"}),
		replay.Step{Name: "most of it unset", Config: base},
	)
}

// bind sets the key-value tags of a project, all at once.
func (w world) bind(t *testing.T, project string, config replay.Fields) {
	t.Helper()
	list, pairs := []any{}, config["tags"].([]any)
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]any{"type": "tag-bindings", "attributes": map[string]any{"key": pairs[i], "value": pairs[i+1]}})
	}
	bindings := body[models.TagBindingsCollectionable](t, models.CreateTagBindingsCollectionFromDiscriminatorValue, map[string]any{"data": list})
	must(t, w.client.API.Projects().ByProject_id(project).Relationships().TagBindings().Patch(t.Context(), bindings, nil))
}

// boundTo reads them where this release of the library has no method: beside the project.
func (w world) boundTo(t *testing.T, project string) []any {
	t.Helper()
	bound, err := w.client.API.Projects().ByProject_id(project).Relationships().TagBindings().
		WithUrl(w.server.Address+"/api/v2/projects/"+project+"/effective-tag-bindings").Get(t.Context(), nil)
	must(t, err)
	pairs := []any{}
	for _, binding := range bound.GetData() {
		pairs = append(pairs, *binding.GetAttributes().GetKey(), *binding.GetAttributes().GetValue())
	}
	return pairs
}

// A token is made with plain HTTP, since this release of the library cannot decode the answer.
func (w world) postToken(t *testing.T, path string, config replay.Fields) string {
	t.Helper()
	return w.server.Create(t, w.owner.Token, path, "", config).ID
}

func inTwoDays() string {
	return time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
}

func replayTeamToken(t *testing.T, w world, all *replay.Replays) {
	team := *w.newTeam(t, "readers").GetId()
	token := w.client.API.Teams().ById(team).AuthenticationToken()
	write := func(t *testing.T, config replay.Fields) (replay.Answer, error) {
		w.postToken(t, "teams/"+team+"/authentication-token", config)
		return replay.Answer{ID: team}, nil
	}
	all.Play(t, "tfe_team_token", replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			if _, err := reading(token.Get(t.Context(), nil)); !errors.Is(err, replay.ErrGone) {
				t.Fatalf("before creation: got error %v, want none to be found", err)
			}
			return write(t, config)
		},
		Read:    func(t *testing.T, _ string) (replay.Answer, error) { return reading(token.Get(t.Context(), nil)) },
		Update:  func(t *testing.T, _ string, _, config replay.Fields) (replay.Answer, error) { return write(t, config) },
		Destroy: func(t *testing.T, _ string) error { return unlessGone(token.Delete(t.Context(), nil)) },
	},
		replay.Step{Name: "without anything", Config: replay.Fields{}},
		replay.Step{Name: "expired-at", Config: replay.Fields{"expired-at": inTwoDays()}},
		replay.Step{Name: "expired-at unset", Config: replay.Fields{}})
}

func replayDescribedTeamToken(t *testing.T, w world, all *replay.Replays) {
	team := *w.newTeam(t, "readers").GetId()
	one := w.client.API.AuthenticationTokens().ById
	all.Play(t, "tfe_team_token, described", replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			return replay.Answer{ID: w.postToken(t, "teams/"+team+"/authentication-tokens", config)}, nil
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) { return reading(one(id).Get(t.Context(), nil)) },
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by id": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
		},
		Destroy: func(t *testing.T, id string) error { return unlessGone(one(id).Delete(t.Context(), nil)) },
	}, replay.Step{Name: "description and expired-at", Config: replay.Fields{"description": "build", "expired-at": inTwoDays()}})
}

func replayOrganizationToken(t *testing.T, w world, all *replay.Replays) {
	token := w.in(w.client).AuthenticationToken()
	write := func(t *testing.T, config replay.Fields) (replay.Answer, error) {
		status, answer := w.server.Call(t, w.owner.Token, http.MethodPost, "organizations/"+w.organization+"/authentication-token",
			map[string]any{"data": map[string]any{"type": "", "attributes": config}})
		if status != http.StatusCreated {
			t.Fatalf("POST of an organization's token: %d %s", status, answer)
		}
		return replay.Answer{ID: w.organization}, nil
	}
	all.Play(t, "tfe_organization_token", replay.Resource{
		Create:  func(t *testing.T, config replay.Fields) (replay.Answer, error) { return write(t, config) },
		Read:    func(t *testing.T, _ string) (replay.Answer, error) { return reading(token.Get(t.Context(), nil)) },
		Update:  func(t *testing.T, _ string, _, config replay.Fields) (replay.Answer, error) { return write(t, config) },
		Destroy: func(t *testing.T, _ string) error { return unlessGone(token.Delete(t.Context(), nil)) },
	},
		replay.Step{Name: "without anything", Config: replay.Fields{}},
		replay.Step{Name: "expired-at", Config: replay.Fields{"expired-at": inTwoDays()}},
		replay.Step{Name: "expired-at unset", Config: replay.Fields{}})
}
