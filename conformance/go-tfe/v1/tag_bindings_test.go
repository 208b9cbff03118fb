package v1

import (
	"testing"

	"github.com/hashicorp/go-tfe"
)

func TestTagBindingsOfAProjectAreInEffectOnItsWorkspaces(t *testing.T) {
	w := newWorld(t)
	project := w.newProject(t, "Landing zone")
	workspace, err := w.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{Name: tfe.String("network"), Project: project})
	must(t, err)
	_, err = w.client.Projects.AddTagBindings(t.Context(), project.ID, tfe.ProjectAddTagBindingsOptions{
		TagBindings: []*tfe.TagBinding{{Key: "env", Value: "prod"}, {Key: "team", Value: "network"}},
	})
	must(t, err)
	ofProject, err := w.client.Projects.ListTagBindings(t.Context(), project.ID)
	must(t, err)
	wantEqual(t, "number of the project's own", len(ofProject), 2)

	_, err = w.client.Workspaces.AddTagBindings(t.Context(), workspace.ID, tfe.WorkspaceAddTagBindingsOptions{
		TagBindings: []*tfe.TagBinding{{Key: "env", Value: "test"}},
	})
	must(t, err)
	own, err := w.client.Workspaces.ListTagBindings(t.Context(), workspace.ID)
	must(t, err)
	wantEqual(t, "number of its own", len(own), 1)
	wantEqual(t, "value of its own", own[0].Value, "test")
	effective, err := w.client.Workspaces.ListEffectiveTagBindings(t.Context(), workspace.ID)
	must(t, err)
	values, inherited := map[string]string{}, map[string]bool{}
	for _, binding := range effective {
		values[binding.Key], inherited[binding.Key] = binding.Value, binding.Links["inherited-from"] != nil
	}
	wantEqual(t, "values in effect", values, map[string]string{"env": "test", "team": "network"})
	wantEqual(t, "which are inherited", inherited, map[string]bool{"env": false, "team": true})

	must(t, w.client.Projects.DeleteAllTagBindings(t.Context(), project.ID))
	effective, err = w.client.Projects.ListEffectiveTagBindings(t.Context(), project.ID)
	must(t, err)
	wantEqual(t, "number in effect after all were deleted", len(effective), 0)
}
