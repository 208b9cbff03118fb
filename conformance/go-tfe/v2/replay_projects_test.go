package v2

import (
	"testing"

	"github.com/hashicorp/go-tfe/v2/api/models"
	"github.com/hashicorp/go-tfe/v2/api/organizations"

	"purser.example/conformance/harness/replay"
)

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

// bind replaces all key-value tags of a project.
func (w world) bind(t *testing.T, project string, config replay.Fields) {
	t.Helper()
	list, pairs := []any{}, config["tags"].([]any)
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]any{"type": "tag-bindings", "attributes": map[string]any{"key": pairs[i], "value": pairs[i+1]}})
	}
	bindings := body[models.TagBindingsCollectionable](t, models.CreateTagBindingsCollectionFromDiscriminatorValue, map[string]any{"data": list})
	must(t, w.client.API.Projects().ByProject_id(project).Relationships().TagBindings().Patch(t.Context(), bindings, nil))
}

// boundTo reads the tags with a URL of its own, because this release of the library has no method for it.
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
