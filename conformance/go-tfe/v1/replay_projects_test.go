package v1

import (
	"errors"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness/replay"
)

func replayProject(t *testing.T, w world, all *replay.Replays) {
	include := tfe.ProjectReadOptions{Include: []tfe.ProjectIncludeOpt{tfe.ProjectEffectiveTagBindings}}
	shownBy := func(project *tfe.Project, err error) (replay.Answer, error) {
		if err != nil {
			return replay.Answer{}, gone(err)
		}
		read, bound := answer(project.ID, project), map[string]any{}
		for _, binding := range project.EffectiveTagBindings {
			bound[binding.Key] = binding.Value
		}
		return replay.Answer{ID: project.ID, Fields: read.Fields.With(replay.Fields{"tags": listOf(bound)})}, nil
	}
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			creation := options[tfe.ProjectCreateOptions](t, config)
			creation.TagBindings = bindings(config)
			return shownBy(w.client.Projects.Create(t.Context(), w.organization, creation))
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			shown, err := w.client.Projects.ReadWithOptions(t.Context(), id, include)
			if errors.Is(err, tfe.ErrInvalidIncludeValue) {
				shown, err = w.client.Projects.Read(t.Context(), id)
			}
			return shownBy(shown, err)
		},
		Update: func(t *testing.T, id string, prior, config replay.Fields) (replay.Answer, error) {
			if _, was := prior["auto-destroy-activity-duration"]; was && config["auto-destroy-activity-duration"] == nil {
				config = config.With(replay.Fields{"auto-destroy-activity-duration": nil})
			}
			update := options[tfe.ProjectUpdateOptions](t, config)
			update.TagBindings = bindings(config)
			if len(update.TagBindings) == 0 {
				must(t, w.client.Projects.DeleteAllTagBindings(t.Context(), id))
			}
			return shownBy(w.client.Projects.Update(t.Context(), id, update))
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by id": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
			"by name, in the data source": func(t *testing.T, _ string, config replay.Fields) (string, error) {
				listed, err := w.client.Projects.List(t.Context(), w.organization, &tfe.ProjectListOptions{Name: config["name"].(string)})
				must(t, err)
				for _, project := range listed.Items {
					if project.Name == config["name"] {
						return project.ID, nil
					}
				}
				return "", tfe.ErrResourceNotFound
			},
		},
		Destroy: func(t *testing.T, id string) error { return unlessGone(w.client.Projects.Delete(t.Context(), id)) },
	}
	base := replay.Fields{"name": "Landing zone", "tags": []any{}}
	with := func(name string, value any) replay.Step {
		return replay.Step{Name: name, Config: base.With(replay.Fields{name: value})}
	}
	all.Play(t, "tfe_project", resource,
		replay.Step{Name: "as configured with a name alone", Config: base},
		with("name", "Landing zones"), with("description", "Networks"), with("description", ""),
		replay.Step{Name: "auto-destroy-activity-duration", Config: base.With(replay.Fields{"auto-destroy-activity-duration": "14d"})},
		with("tags", []any{"env", "prod", "team", ""}), with("tags", []any{"env", "test"}),
		replay.Step{Name: "most of it unset", Config: base},
	)
	all.Play(t, "tfe_project", resource, replay.Step{Name: "created with everything", Config: replay.Fields{
		"name": "Landing zone", "description": "Networks", "tags": []any{"env", "prod"},
	}})
}
