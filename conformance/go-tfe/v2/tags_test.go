package v2

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/go-tfe/v2/api/models"
	abstractions "github.com/microsoft/kiota-abstractions-go"

	"purser.example/conformance/harness/replay"
)

func TestWorkspacesMoveIntoAProject(t *testing.T) {
	w := newWorld(t)
	project, workspace := w.newProject(t, "Landing zone"), *w.newWorkspace(t, "network").GetId()
	moved := body[models.WorkspacesIdentifierArrayDocumentable](t, models.CreateWorkspacesIdentifierArrayDocumentFromDiscriminatorValue,
		toAll("workspaces", []string{workspace}))
	must(t, w.client.API.Projects().ByProject_id(project).Relationships().Workspaces().Post(t.Context(), moved, nil))
	shown, err := w.client.API.Workspaces().ByWorkspace_id(workspace).Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "project of the workspace", *shown.GetData().GetRelationships().GetProject().GetData().GetId(), project)
}

func TestTagsOfAWorkspaceComeAndGo(t *testing.T) {
	w := newWorld(t)
	tags := w.client.API.Workspaces().ByWorkspace_id(*w.newWorkspace(t, "network").GetId()).Relationships().Tags()
	named := []any{map[string]any{"type": "tags", "attributes": map[string]any{"name": "prod"}}}
	must(t, tags.Post(t.Context(), body[models.TagsCreateArrayDocumentable](t, models.CreateTagsCreateArrayDocumentFromDiscriminatorValue,
		map[string]any{"data": named}), nil))
	listed, err := tags.Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "number of tags", len(listed.GetData()), 1)
	wantEqual(t, "name of the tag", *listed.GetData()[0].GetAttributes().GetName(), "prod")
	must(t, tags.Delete(t.Context(), body[models.TagsRemoveArrayDocumentable](t, models.CreateTagsRemoveArrayDocumentFromDiscriminatorValue,
		map[string]any{"data": named}), nil))
	listed, err = tags.Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "number of tags after one was removed", len(listed.GetData()), 0)
}

func TestRemoteStateConsumersComeAndGo(t *testing.T) {
	w := newWorld(t)
	producer, consumer := *w.newWorkspace(t, "producer").GetId(), *w.newWorkspace(t, "consumer").GetId()
	one := body[models.WorkspacesIdentifierArrayDocumentable](t, models.CreateWorkspacesIdentifierArrayDocumentFromDiscriminatorValue,
		toAll("workspaces", []string{consumer}))
	consumers := w.client.API.Workspaces().ByWorkspace_id(producer).Relationships().RemoteStateConsumers()
	must(t, consumers.Post(t.Context(), one, nil))
	listed, err := consumers.Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "number of consumers", len(listed.GetData()), 1)
	must(t, consumers.Delete(t.Context(), one, nil))
	listed, err = consumers.Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "number of consumers after one was removed", len(listed.GetData()), 0)
}

func TestKeyValueTagsOfAWorkspaceAreSet(t *testing.T) {
	w := newWorld(t)
	workspace := *w.newWorkspace(t, "network").GetId()
	with := func(pairs ...any) models.WorkspacesEnvelopeable {
		return resourceBody[models.WorkspacesEnvelopeable](t, models.CreateWorkspacesEnvelopeFromDiscriminatorValue, "workspaces",
			replay.Fields{}, map[string]any{"tag-bindings": map[string]any{"data": pairs}})
	}
	_, err := w.client.API.Workspaces().ByWorkspace_id(workspace).Patch(t.Context(), with(
		map[string]any{"type": "tag-bindings", "attributes": map[string]any{"key": "env", "value": "prod"}},
	), nil)
	must(t, err)
	bound, err := w.client.API.Workspaces().ByWorkspace_id(workspace).Relationships().TagBindings().
		WithUrl(w.server.Address+"/api/v2/workspaces/"+workspace+"/effective-tag-bindings").Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "number of bindings", len(bound.GetData()), 1)
	wantEqual(t, "value", *bound.GetData()[0].GetAttributes().GetValue(), "prod")
}

// tagBindings is the relationship of a workspace or a project.
type tagBindings interface {
	Get(context.Context, *abstractions.RequestConfiguration[abstractions.DefaultQueryParameters]) (models.TagBindingsCollectionable, error)
	Post(context.Context, models.TagBindingsCollectionable, *abstractions.RequestConfiguration[abstractions.DefaultQueryParameters]) error
	Patch(context.Context, models.TagBindingsCollectionable, *abstractions.RequestConfiguration[abstractions.DefaultQueryParameters]) error
}

func TestTagBindingsAreAddedAndReplacedAsARelationship(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	project := *workspace.GetRelationships().GetProject().GetData().GetId()
	bindings := func(pairs ...string) models.TagBindingsCollectionable {
		var list []any
		for _, pair := range pairs {
			key, value, _ := strings.Cut(pair, "=")
			list = append(list, map[string]any{"type": "tag-bindings", "attributes": map[string]any{"key": key, "value": value}})
		}
		return body[models.TagBindingsCollectionable](t, models.CreateTagBindingsCollectionFromDiscriminatorValue, map[string]any{"data": list})
	}
	for _, of := range []tagBindings{
		w.client.API.Workspaces().ByWorkspace_id(*workspace.GetId()).Relationships().TagBindings(),
		w.client.API.Projects().ByProject_id(project).Relationships().TagBindings(),
	} {
		want := func(pairs ...string) {
			t.Helper()
			listed, err := of.Get(t.Context(), nil)
			must(t, err)
			var found []string
			for _, binding := range listed.GetData() {
				found = append(found, *binding.GetAttributes().GetKey()+"="+*binding.GetAttributes().GetValue())
			}
			wantEqual(t, "bindings", found, pairs)
		}
		must(t, of.Post(t.Context(), bindings("zone=eu"), nil))
		must(t, of.Post(t.Context(), bindings("env=prod"), nil))
		want("env=prod", "zone=eu")
		must(t, of.Patch(t.Context(), bindings("zone=us"), nil))
		want("zone=us")
	}
}
