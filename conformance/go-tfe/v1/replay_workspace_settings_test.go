package v1

import (
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness/replay"
)

// The resource is the settings of a workspace that another resource has created. Destroying it resets all settings.
func replayWorkspaceSettings(t *testing.T, w world, all *replay.Replays) {
	workspace, consumer := w.newWorkspace(t, "network"), w.newWorkspace(t, "consumer")
	destroyed := false
	read := func(t *testing.T, id string) (replay.Answer, error) {
		if destroyed {
			return replay.Answer{}, replay.ErrGone
		}
		shown, err := w.readForProvider(t, id)
		if err != nil {
			return replay.Answer{}, gone(err)
		}
		return w.workspaceFields(t, shown), nil
	}
	// The provider sends all settings each time. For a setting that the configuration leaves open it sends the value it
	// has read. Without an execution mode it asks for the organization's.
	write := func(t *testing.T, id string, config replay.Fields) (replay.Answer, error) {
		before, err := read(t, id)
		must(t, err)
		sent := replay.Fields{"setting-overwrites": map[string]bool{"execution-mode": false, "agent-pool": false}}
		for _, name := range []string{"auto-apply", "assessments-enabled", "global-remote-state", "project-remote-state"} {
			sent[name] = before.Fields[name]
		}
		sent = sent.With(config)
		if mode, isSet := config["execution-mode"]; isSet {
			sent = sent.With(replay.Fields{
				"execution-mode": mode, "agent-pool-id": "",
				"setting-overwrites": map[string]bool{"execution-mode": true, "agent-pool": true},
			})
		} else {
			sent["execution-mode"] = "remote"
		}
		update := options[tfe.WorkspaceUpdateOptions](t, sent)
		update.TagBindings = bindings(config)
		if _, isKnown := config["tags"]; isKnown && len(update.TagBindings) == 0 {
			must(t, w.client.Workspaces.DeleteAllTagBindings(t.Context(), id))
		}
		updated, err := w.client.Workspaces.UpdateByID(t.Context(), id, update)
		if err != nil {
			return replay.Answer{}, err
		}
		if sent["global-remote-state"] == false && sent["project-remote-state"] == false {
			w.shareWith(t, id, texts(before.Fields["remote-state-consumers"]), texts(config["remote-state-consumers"]))
		}
		return replay.Answer{ID: id, Whole: replay.Fields{"attributes": answer(id, updated).Fields}}, nil
	}
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) { return write(t, workspace.ID, config) },
		Read:   read,
		Update: func(t *testing.T, id string, _, config replay.Fields) (replay.Answer, error) {
			return write(t, id, config)
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by name": func(t *testing.T, _ string, _ replay.Fields) (string, error) {
				found, err := w.client.Workspaces.Read(t.Context(), w.organization, workspace.Name)
				must(t, err)
				return found.ID, nil
			},
		},
		Destroy: func(t *testing.T, id string) error {
			_, err := w.client.Workspaces.UpdateByID(t.Context(), id, options[tfe.WorkspaceUpdateOptions](t, replay.Fields{
				"execution-mode": "remote", "global-remote-state": false, "project-remote-state": false, "auto-apply": false,
				"assessments-enabled": false, "setting-overwrites": map[string]bool{"execution-mode": false, "agent-pool": false},
			}))
			destroyed = true
			return err
		},
		Changing: []string{"updated-at"},
	}
	followed := replay.Fields{"setting-overwrites": replay.Fields{"execution-mode": false, "agent-pool": false}}
	with := func(name string, value any) replay.Step {
		return replay.Step{Name: name, Config: followed.With(replay.Fields{name: value})}
	}
	own := func(mode string) replay.Step {
		return replay.Step{Name: "execution-mode " + mode, Config: replay.Fields{
			"execution-mode": mode, "setting-overwrites": replay.Fields{"execution-mode": true, "agent-pool": true},
		}}
	}
	all.Play(t, "tfe_workspace_settings", resource,
		replay.Step{Name: "without anything", Config: followed}, own("local"), own("remote"),
		replay.Step{Name: "execution-mode unset", Config: followed},
		with("description", "Networks"), with("auto-apply", true), with("auto-apply", false), with("assessments-enabled", true),
		with("assessments-enabled", false), with("tags", []any{"env", "prod"}), with("tags", []any{}),
		replay.Step{Name: "project-remote-state", Config: followed.With(replay.Fields{"global-remote-state": false, "project-remote-state": true})},
		replay.Step{Name: "consumers", Config: followed.With(replay.Fields{
			"global-remote-state": false, "project-remote-state": false, "remote-state-consumers": []string{consumer.ID},
		})},
		with("global-remote-state", true),
	)
}
