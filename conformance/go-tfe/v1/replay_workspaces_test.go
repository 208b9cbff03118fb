package v1

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness/replay"
)

// readForProvider reads a workspace with its bindings, or without them if the server does not know that include.
func (w world) readForProvider(t *testing.T, id string) (*tfe.Workspace, error) {
	t.Helper()
	shown, err := w.client.Workspaces.ReadByIDWithOptions(t.Context(), id, &tfe.WorkspaceReadOptions{
		Include: []tfe.WSIncludeOpt{tfe.WSEffectiveTagBindings},
	})
	if errors.Is(err, tfe.ErrInvalidIncludeValue) {
		return w.client.Workspaces.ReadByID(t.Context(), id)
	}
	return shown, err
}

// consumers returns the workspaces that may read this workspace's state. If the server does not know consumers, the
// provider assumes that the workspace shares with all.
func (w world) consumers(t *testing.T, id string) (isGlobal bool, ids []string) {
	t.Helper()
	query := &tfe.RemoteStateConsumersListOptions{ListOptions: tfe.ListOptions{PageSize: 100}}
	listed, err := w.client.Workspaces.ListRemoteStateConsumers(t.Context(), id, query)
	if errors.Is(err, tfe.ErrResourceNotFound) {
		return true, nil
	}
	must(t, err)
	for _, consumer := range listed.Items {
		ids = append(ids, consumer.ID)
	}
	return false, sorted(ids...)
}

// shareWith adds and removes consumers when the configuration changes.
func (w world) shareWith(t *testing.T, id string, before, after []string) {
	t.Helper()
	if added := minus(after, before); len(added) > 0 {
		must(t, w.client.Workspaces.AddRemoteStateConsumers(t.Context(), id, tfe.WorkspaceAddRemoteStateConsumersOptions{Workspaces: workspaces(added)}))
	}
	if removed := minus(before, after); len(removed) > 0 {
		must(t, w.client.Workspaces.RemoveRemoteStateConsumers(t.Context(), id, tfe.WorkspaceRemoveRemoteStateConsumersOptions{Workspaces: workspaces(removed)}))
	}
}

func workspaces(ids []string) []*tfe.Workspace {
	var all []*tfe.Workspace
	for _, id := range ids {
		all = append(all, &tfe.Workspace{ID: id})
	}
	return all
}

// workspaceFields returns what the provider stores of a workspace: its attributes, project, bindings and consumers.
func (w world) workspaceFields(t *testing.T, shown *tfe.Workspace) replay.Answer {
	t.Helper()
	read := answer(shown.ID, shown)
	own, effective := map[string]any{}, map[string]any{}
	for _, binding := range shown.EffectiveTagBindings {
		effective[binding.Key] = binding.Value
		if binding.Links == nil {
			own[binding.Key] = binding.Value
		}
	}
	more := replay.Fields{"project": shown.Project.ID, "tags": listOf(own), "effective-tags": listOf(effective)}
	names := slices.Clone(shown.TagNames)
	more["tag-names"] = sorted(names...)
	if !shown.GlobalRemoteState {
		more["global-remote-state"], more["remote-state-consumers"] = w.consumers(t, shown.ID)
	}
	return replay.Answer{ID: shown.ID, Fields: read.Fields.With(more), Whole: read.Whole}
}

// listOf converts a map to a list, which replays compare as one value, even if it is empty.
func listOf(pairs map[string]any) []any {
	var keys []string
	for key := range pairs {
		keys = append(keys, key)
	}
	list := []any{}
	for _, key := range sorted(keys...) {
		list = append(list, key, pairs[key])
	}
	return list
}

func bindings(config replay.Fields) []*tfe.TagBinding {
	list, _ := config["tags"].([]any)
	var bound []*tfe.TagBinding
	for pair := range slices.Chunk(list, 2) {
		bound = append(bound, &tfe.TagBinding{Key: pair[0].(string), Value: pair[1].(string)})
	}
	return bound
}

func texts(value any) []string {
	list, _ := value.([]string)
	return list
}

func tagsNamed(names []string) []*tfe.Tag {
	var tags []*tfe.Tag
	for _, name := range names {
		tags = append(tags, &tfe.Tag{Name: name})
	}
	return tags
}

func (w world) workspaceResource(force bool) replay.Resource {
	return replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			creation := options[tfe.WorkspaceCreateOptions](t, withoutEmpty(config, "description"))
			creation.Tags, creation.TagBindings = tagsNamed(texts(config["tag-names"])), bindings(config)
			if project, isGiven := config["project"]; isGiven {
				creation.Project = &tfe.Project{ID: project.(string)}
			}
			created, err := w.client.Workspaces.Create(t.Context(), w.organization, creation)
			if err != nil {
				return replay.Answer{}, err
			}
			w.shareWith(t, created.ID, nil, texts(config["remote-state-consumers"]))
			return replay.Answer{ID: created.ID}, nil
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			shown, err := w.readForProvider(t, id)
			if err != nil {
				return replay.Answer{}, gone(err)
			}
			wantEqual(t, "has a link to its page", shown.Links["self-html"] != nil, true)
			return w.workspaceFields(t, shown), nil
		},
		Update: func(t *testing.T, id string, prior, config replay.Fields) (replay.Answer, error) {
			update := options[tfe.WorkspaceUpdateOptions](t, whatWorkspaceUpdateSends(prior, config))
			update.TagBindings = bindings(config)
			if _, isKnown := config["tags"]; isKnown && len(update.TagBindings) == 0 {
				must(t, w.client.Workspaces.DeleteAllTagBindings(t.Context(), id))
			}
			if project, isGiven := config["project"]; isGiven && project != prior["project"] {
				update.Project = &tfe.Project{ID: project.(string)}
			}
			updated, err := w.client.Workspaces.UpdateByID(t.Context(), id, update)
			if err != nil {
				return replay.Answer{}, err
			}
			before, after := texts(prior["tag-names"]), texts(config["tag-names"])
			if added := minus(after, before); len(added) > 0 {
				must(t, w.client.Workspaces.AddTags(t.Context(), id, tfe.WorkspaceAddTagsOptions{Tags: tagsNamed(added)}))
			}
			if removed := minus(before, after); len(removed) > 0 {
				must(t, w.client.Workspaces.RemoveTags(t.Context(), id, tfe.WorkspaceRemoveTagsOptions{Tags: tagsNamed(removed)}))
			}
			if config["global-remote-state"] == false {
				w.shareWith(t, id, texts(prior["remote-state-consumers"]), texts(config["remote-state-consumers"]))
			}
			if !reflect.DeepEqual(before, after) {
				return replay.Answer{ID: id}, nil
			}
			return replay.Answer{ID: id, Whole: replay.Fields{"attributes": answer(id, updated).Fields}}, nil
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by id": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
			"by name": func(t *testing.T, _ string, config replay.Fields) (string, error) {
				found, err := w.client.Workspaces.Read(t.Context(), w.organization, config["name"].(string))
				must(t, err)
				return found.ID, nil
			},
		},
		Destroy:  func(t *testing.T, id string) error { return w.destroyWorkspace(t, id, force) },
		Changing: []string{"updated-at"},
	}
}

// destroyWorkspace deletes like the provider, which first checks the caller's permissions and the number of resources.
func (w world) destroyWorkspace(t *testing.T, id string, force bool) error {
	t.Helper()
	shown, err := w.client.Workspaces.ReadByID(t.Context(), id)
	if err != nil {
		return unlessGone(err)
	}
	switch {
	case shown.Permissions.CanForceDelete == nil:
		return errors.New("the server does not say whether it deletes safely")
	case force && *shown.Permissions.CanForceDelete:
		return unlessGone(w.client.Workspaces.DeleteByID(t.Context(), id))
	case shown.ResourceCount > 0:
		return errors.New("holds resources")
	default:
		return unlessGone(w.client.Workspaces.SafeDeleteByID(t.Context(), id))
	}
}

// whatWorkspaceUpdateSends removes what the provider sends only when it changes.
func whatWorkspaceUpdateSends(prior, config replay.Fields) replay.Fields {
	sent := config.Without("setting-overwrites", "tag-names", "project", "source-name", "source-url")
	for _, name := range []string{"assessments-enabled", "auto-apply", "description", "execution-mode", "auto-destroy-activity-duration"} {
		if reflect.DeepEqual(prior[name], config[name]) {
			delete(sent, name)
		}
	}
	if _, isSent := sent["execution-mode"]; isSent {
		sent["setting-overwrites"] = map[string]bool{"execution-mode": true}
	}
	if _, was := prior["auto-destroy-activity-duration"]; was {
		if _, is := config["auto-destroy-activity-duration"]; !is {
			sent["auto-destroy-activity-duration"] = nil
		}
	}
	return sent
}

// providerWorkspace is a configuration with only a name. The provider sends these defaults for it.
func providerWorkspace(name string) replay.Fields {
	return replay.Fields{
		"name": name, "allow-destroy-plan": true, "auto-apply-run-trigger": false, "file-triggers-enabled": true,
		"queue-all-runs": true, "speculative-enabled": true, "structured-run-output-enabled": true, "working-directory": "",
		"setting-overwrites": replay.Fields{"execution-mode": false, "agent-pool": false},
	}
}

func replayWorkspace(t *testing.T, w world, all *replay.Replays) {
	project := w.newProject(t, "Landing zone")
	one, other := w.newWorkspace(t, "consumer-one"), w.newWorkspace(t, "consumer-other")
	created := providerWorkspace("network")
	// From its first update on, the provider sends the values again that it has read.
	base := created.Without("setting-overwrites").With(replay.Fields{"global-remote-state": true})
	with := func(name string, value any) replay.Step {
		return replay.Step{Name: name, Config: base.With(replay.Fields{name: value})}
	}
	back := replay.Step{Name: "that back", Config: base}
	refused := func(name string, value any) replay.Step {
		return replay.Step{Name: name + " refused", Config: base.With(replay.Fields{name: value}), Refused: name}
	}
	own := func(mode string) replay.Fields {
		return replay.Fields{"execution-mode": mode, "setting-overwrites": replay.Fields{"execution-mode": true}}
	}
	resource := w.workspaceResource(false)
	all.Play(t, "tfe_workspace", resource,
		replay.Step{Name: "as configured with a name alone", Config: created},
		with("name", "core-network"), back,
		with("description", "VPCs and subnets"), with("description", "Networks"),
		with("allow-destroy-plan", false), back, with("auto-apply-run-trigger", true), back, with("file-triggers-enabled", false), back,
		with("queue-all-runs", false), back, with("speculative-enabled", false), back, with("structured-run-output-enabled", false), back,
		with("working-directory", "modules/network"), back, with("auto-apply", true), with("auto-apply", false),
		with("assessments-enabled", true), with("assessments-enabled", false),
		with("terraform-version", "1.10.10"), with("terraform-version", "latest"),
		with("trigger-prefixes", []string{"modules", "lib"}), with("trigger-patterns", []string{"**/*.tf"}),
		replay.Step{Name: "execution-mode local", Config: base.With(own("local"))},
		replay.Step{Name: "execution-mode remote", Config: base.With(own("remote"))},
		with("auto-destroy-activity-duration", "14d"), with("auto-destroy-activity-duration", "24h"), back,
		refused("vcs-repo", map[string]any{"identifier": "example/network", "ingress-submodules": false, "tags-regex": ""}),
		with("project", project.ID), with("project", w.defaultProject(t)),
		with("tag-names", []string{"network", "prod"}), with("tag-names", []string{"prod"}), with("tag-names", []string{}),
		with("tags", []any{"env", "prod", "team", ""}), with("tags", []any{"env", "test"}), with("tags", []any{}),
		with("global-remote-state", false),
		replay.Step{Name: "consumers", Config: base.With(replay.Fields{"global-remote-state": false, "remote-state-consumers": sorted(one.ID, other.ID)})},
		replay.Step{Name: "one consumer less", Config: base.With(replay.Fields{"global-remote-state": false, "remote-state-consumers": sorted(one.ID)})},
		back,
	)
	all.Play(t, "tfe_workspace", resource,
		replay.Step{Name: "created with everything", Config: created.With(own("remote")).With(replay.Fields{
			"description": "Networks", "auto-apply": true, "assessments-enabled": true, "terraform-version": "1.10.10",
			"allow-destroy-plan": false, "auto-apply-run-trigger": true, "file-triggers-enabled": false, "queue-all-runs": false,
			"speculative-enabled": false, "structured-run-output-enabled": false, "working-directory": "modules",
			"trigger-prefixes": []string{"modules"}, "source-name": "a tool", "source-url": "https://tool.example.com",
			"project": project.ID, "tag-names": []string{"network", "prod"}, "tags": []any{"env", "prod"},
			"setting-overwrites":  replay.Fields{"execution-mode": true, "agent-pool": true},
			"global-remote-state": false, "remote-state-consumers": sorted(one.ID, other.ID),
		})})
}

func replayWorkspaceInUse(t *testing.T, w world, all *replay.Replays) {
	workspace := w.newWorkspace(t, "network")
	// A caller who may not force a deletion is told so, and can still delete safely.
	admin := w.newMember(t, "admin")
	w.grant(t, w.newTeamOf(t, "admins", admin), workspace, tfe.AccessAdmin)
	asAdmin := w
	asAdmin.client = admin.client
	_, err := w.client.Organizations.Update(t.Context(), w.organization, tfe.OrganizationUpdateOptions{AllowForceDeleteWorkspaces: tfe.Bool(false)})
	must(t, err)
	_, err = w.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	w.uploadState(t, workspace, stateWithResource)
	if err := asAdmin.destroyWorkspace(t, workspace.ID, false); err == nil || err.Error() != "holds resources" {
		t.Fatalf("destroy of a workspace that holds resources: got %v", err)
	}
	resource := w.workspaceResource(true)
	shown, err := resource.Read(t, workspace.ID)
	must(t, err)
	all.Compare(t, "tfe_workspace, locked or in use", replay.Fields{"locked": true, "resource-count": 1}, shown.Fields)
	must(t, resource.Destroy(t, workspace.ID))
	must(t, resource.Destroy(t, workspace.ID))
}

func (w world) defaultProject(t *testing.T) string {
	t.Helper()
	organization, err := w.client.Organizations.Read(t.Context(), w.organization)
	must(t, err)
	return organization.DefaultProject.ID
}
