package v1

import (
	"testing"

	"github.com/hashicorp/go-tfe"
)

func TestProjectIsCreatedShownUpdatedAndDeleted(t *testing.T) {
	w := newWorld(t)
	created := w.newProject(t, "Landing zone")
	shown, err := w.client.Projects.Read(t.Context(), created.ID)
	must(t, err)
	wantEqual(t, "name", shown.Name, "Landing zone")
	wantEqual(t, "organization", shown.Organization.Name, w.organization)
	updated, err := w.client.Projects.Update(t.Context(), created.ID, tfe.ProjectUpdateOptions{
		Name:        tfe.String("Landing zones"),
		Description: tfe.String("Networks and accounts"),
	})
	must(t, err)
	wantEqual(t, "new name", updated.Name, "Landing zones")
	wantEqual(t, "description", updated.Description, "Networks and accounts")

	listed, err := w.client.Projects.List(t.Context(), w.organization, nil)
	must(t, err)
	wantEqual(t, "projects with the default one", listed.TotalCount, 2)
	found, err := w.client.Projects.List(t.Context(), w.organization, &tfe.ProjectListOptions{Name: "Landing zones"})
	must(t, err)
	wantEqual(t, "projects of this name", len(found.Items), 1)

	workspace, err := w.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{
		Name:    tfe.String("network"),
		Project: created,
	})
	must(t, err)
	wantEqual(t, "project of the workspace", workspace.Project.ID, created.ID)
	inProject, err := w.client.Workspaces.List(t.Context(), w.organization, &tfe.WorkspaceListOptions{ProjectID: created.ID})
	must(t, err)
	wantEqual(t, "workspaces of the project", inProject.TotalCount, 1)
	wantRefusal(t, w.client.Projects.Delete(t.Context(), created.ID))
	must(t, w.client.Workspaces.DeleteByID(t.Context(), workspace.ID))
	must(t, w.client.Projects.Delete(t.Context(), created.ID))
	_, err = w.client.Projects.Read(t.Context(), created.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestProjectAccessOpensItsWorkspaces(t *testing.T) {
	w := newWorld(t)
	project := w.newProject(t, "Landing zone")
	workspace, err := w.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{
		Name:    tfe.String("network"),
		Project: project,
	})
	must(t, err)
	reader := w.newMember(t, "reader")
	team := w.newTeamOf(t, "readers", reader)
	_, err = reader.client.Workspaces.ReadByID(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrResourceNotFound)

	granted, err := w.client.TeamProjectAccess.Add(t.Context(), tfe.TeamProjectAccessAddOptions{
		Access:  tfe.TeamProjectAccessRead,
		Team:    team,
		Project: project,
	})
	must(t, err)
	wantEqual(t, "access", granted.Access, tfe.TeamProjectAccessRead)
	wantEqual(t, "state-versions", granted.WorkspaceAccess.WorkspaceStateVersionsPermission, tfe.WorkspaceStateVersionsPermissionRead)
	_, err = reader.client.Workspaces.ReadByID(t.Context(), workspace.ID)
	must(t, err)
	_, err = reader.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})
	wantError(t, err, tfe.ErrResourceNotFound)

	_, err = w.client.TeamProjectAccess.Update(t.Context(), granted.ID, tfe.TeamProjectAccessUpdateOptions{
		Access: tfe.ProjectAccess(tfe.TeamProjectAccessWrite),
	})
	must(t, err)
	_, err = reader.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	_, err = reader.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{
		Name:    tfe.String("mine"),
		Project: project,
	})
	wantError(t, err, tfe.ErrResourceNotFound)

	custom, err := w.client.TeamProjectAccess.Update(t.Context(), granted.ID, tfe.TeamProjectAccessUpdateOptions{
		Access: tfe.ProjectAccess(tfe.TeamProjectAccessCustom),
		WorkspaceAccess: &tfe.TeamProjectAccessWorkspacePermissionsOptions{
			Create:        tfe.Bool(true),
			StateVersions: tfe.WorkspaceStateVersionsPermission(tfe.WorkspaceStateVersionsPermissionReadOutputs),
		},
	})
	must(t, err)
	wantEqual(t, "create", custom.WorkspaceAccess.WorkspaceCreatePermission, true)
	_, err = reader.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{
		Name:    tfe.String("mine"),
		Project: project,
	})
	must(t, err)

	listed, err := w.client.TeamProjectAccess.List(t.Context(), tfe.TeamProjectAccessListOptions{ProjectID: project.ID})
	must(t, err)
	wantEqual(t, "grants on the project", len(listed.Items), 1)
	must(t, w.client.TeamProjectAccess.Remove(t.Context(), granted.ID))
	_, err = reader.client.Workspaces.ReadByID(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func (w world) newProject(t *testing.T, name string) *tfe.Project {
	t.Helper()
	project, err := w.client.Projects.Create(t.Context(), w.organization, tfe.ProjectCreateOptions{Name: name})
	must(t, err)
	return project
}
