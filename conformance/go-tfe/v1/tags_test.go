package v1

import (
	"testing"

	"github.com/hashicorp/go-tfe"
)

func TestTagsHaveIdsAndAreDeletedFromWorkspaces(t *testing.T) {
	w := newWorld(t)
	network, storage := w.newWorkspace(t, "network"), w.newWorkspace(t, "storage")
	must(t, w.client.Workspaces.AddTags(t.Context(), network.ID, tfe.WorkspaceAddTagsOptions{
		Tags: []*tfe.Tag{{Name: "core"}, {Name: "shared"}},
	}))
	ofNetwork, err := w.client.Workspaces.ListTags(t.Context(), network.ID, nil)
	must(t, err)
	wantEqual(t, "tags of the workspace", ofNetwork.TotalCount, 2)
	core := ofNetwork.Items[0]
	wantEqual(t, "name", core.Name, "core")
	must(t, w.client.Workspaces.AddTags(t.Context(), storage.ID, tfe.WorkspaceAddTagsOptions{Tags: []*tfe.Tag{{ID: core.ID}}}))

	all, err := w.client.OrganizationTags.List(t.Context(), w.organization, &tfe.OrganizationTagsListOptions{Query: "CORE"})
	must(t, err)
	wantEqual(t, "found tags", all.TotalCount, 1)
	wantEqual(t, "workspaces with it", all.Items[0].InstanceCount, 2)
	without, err := w.client.OrganizationTags.List(t.Context(), w.organization, &tfe.OrganizationTagsListOptions{Filter: storage.ID})
	must(t, err)
	wantEqual(t, "tags that the other does not have", without.Items[0].Name, "shared")
	must(t, w.client.OrganizationTags.AddWorkspaces(t.Context(), without.Items[0].ID, tfe.AddWorkspacesToTagOptions{
		WorkspaceIDs: []string{storage.ID},
	}))
	must(t, w.client.Workspaces.RemoveTags(t.Context(), network.ID, tfe.WorkspaceRemoveTagsOptions{Tags: []*tfe.Tag{{Name: "shared"}}}))
	must(t, w.client.OrganizationTags.Delete(t.Context(), w.organization, tfe.OrganizationTagsDeleteOptions{IDs: []string{core.ID}}))
	shown, err := w.client.Workspaces.ReadByID(t.Context(), storage.ID)
	must(t, err)
	wantEqual(t, "tags that are left", shown.TagNames, []string{"shared"})
}

func TestTagBindingsAreInheritedOverriddenAndCleared(t *testing.T) {
	w := newWorld(t)
	project, err := w.client.Projects.Create(t.Context(), w.organization, tfe.ProjectCreateOptions{
		Name:        "Landing zone",
		TagBindings: []*tfe.TagBinding{{Key: "team", Value: "network"}, {Key: "env", Value: "prod"}},
	})
	must(t, err)
	workspace, err := w.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{
		Name:        tfe.String("network"),
		Project:     project,
		TagBindings: []*tfe.TagBinding{{Key: "env", Value: "test"}},
	})
	must(t, err)
	added, err := w.client.Workspaces.AddTagBindings(t.Context(), workspace.ID, tfe.WorkspaceAddTagBindingsOptions{
		TagBindings: []*tfe.TagBinding{{Key: "zone", Value: "eu"}},
	})
	must(t, err)
	wantEqual(t, "own bindings", len(added), 2)

	effective, err := w.client.Workspaces.ListEffectiveTagBindings(t.Context(), workspace.ID)
	must(t, err)
	values := map[string]string{}
	for _, binding := range effective {
		values[binding.Key] = binding.Value
		wantEqual(t, binding.Key+" is inherited", binding.Links != nil, binding.Key == "team")
	}
	wantEqual(t, "effective bindings", values, map[string]string{"env": "test", "team": "network", "zone": "eu"})
	shown, err := w.client.Workspaces.ReadByIDWithOptions(t.Context(), workspace.ID, &tfe.WorkspaceReadOptions{
		Include: []tfe.WSIncludeOpt{tfe.WSEffectiveTagBindings},
	})
	must(t, err)
	wantEqual(t, "included bindings", len(shown.EffectiveTagBindings), 3)
	found, err := w.client.Workspaces.List(t.Context(), w.organization, &tfe.WorkspaceListOptions{
		TagBindings: []*tfe.TagBinding{{Key: "team", Value: "network"}, {Key: "zone"}},
	})
	must(t, err)
	wantEqual(t, "workspaces with both", found.TotalCount, 1)

	must(t, w.client.Workspaces.DeleteAllTagBindings(t.Context(), workspace.ID))
	must(t, w.client.Projects.DeleteAllTagBindings(t.Context(), project.ID))
	left, err := w.client.Workspaces.ListEffectiveTagBindings(t.Context(), workspace.ID)
	must(t, err)
	wantEqual(t, "bindings that are left", len(left), 0)
}

func TestRemoteStateConsumersAreAddedReplacedAndRemoved(t *testing.T) {
	w := newWorld(t)
	source, a, b := w.newWorkspace(t, "source"), w.newWorkspace(t, "a"), w.newWorkspace(t, "b")
	must(t, w.client.Workspaces.AddRemoteStateConsumers(t.Context(), source.ID, tfe.WorkspaceAddRemoteStateConsumersOptions{
		Workspaces: []*tfe.Workspace{a},
	}))
	must(t, w.client.Workspaces.UpdateRemoteStateConsumers(t.Context(), source.ID, tfe.WorkspaceUpdateRemoteStateConsumersOptions{
		Workspaces: []*tfe.Workspace{a, b},
	}))
	must(t, w.client.Workspaces.RemoveRemoteStateConsumers(t.Context(), source.ID, tfe.WorkspaceRemoveRemoteStateConsumersOptions{
		Workspaces: []*tfe.Workspace{a},
	}))
	consumers, err := w.client.Workspaces.ListRemoteStateConsumers(t.Context(), source.ID, nil)
	must(t, err)
	wantEqual(t, "consumers", len(consumers.Items), 1)
	wantEqual(t, "the consumer that is left", consumers.Items[0].Name, "b")
}

func TestWorkspacesIncludeWhatIsAskedFor(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	_, err := w.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	w.uploadState(t, workspace, stateWithResource)
	shown, err := w.client.Workspaces.ReadByIDWithOptions(t.Context(), workspace.ID, &tfe.WorkspaceReadOptions{
		Include: []tfe.WSIncludeOpt{tfe.WSProject, tfe.WSLockedBy, tfe.WSCurrentStateVer, tfe.WSCurrentRun},
	})
	must(t, err)
	// Not together with the project: the organization refers to its default project, which refers back to it, and the
	// library follows such references for ever.
	withOrganization, err := w.client.Workspaces.ReadByIDWithOptions(t.Context(), workspace.ID, &tfe.WorkspaceReadOptions{
		Include: []tfe.WSIncludeOpt{tfe.WSOrganization},
	})
	must(t, err)
	wantEqual(t, "organization", withOrganization.Organization.Email != "", true)
	wantEqual(t, "project", shown.Project.Name, "Default Project")
	wantEqual(t, "holder of the lock", shown.LockedBy.User.Username, w.owner.Username)
	wantEqual(t, "current state", shown.CurrentStateVersion.DownloadURL != "", true)
	_, err = w.client.Workspaces.ReadByIDWithOptions(t.Context(), workspace.ID, &tfe.WorkspaceReadOptions{
		Include: []tfe.WSIncludeOpt{"nonsense"},
	})
	wantError(t, err, tfe.ErrInvalidIncludeValue)
	sorted, err := w.client.Workspaces.List(t.Context(), w.organization, &tfe.WorkspaceListOptions{Sort: "-latest-change-at"})
	must(t, err)
	wantEqual(t, "workspaces", sorted.TotalCount, 1)
}
