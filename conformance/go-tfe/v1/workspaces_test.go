package v1

import (
	"fmt"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness"
)

func TestWorkspaceIsCreatedShownUpdatedAndDeleted(t *testing.T) {
	w := newWorld(t)
	created, err := w.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{
		Name:             tfe.String("network"),
		Description:      tfe.String("VPCs and subnets"),
		TerraformVersion: tfe.String("1.10.10"),
	})
	must(t, err)
	wantEqual(t, "name", created.Name, "network")
	wantEqual(t, "description", created.Description, "VPCs and subnets")
	wantEqual(t, "execution-mode", created.ExecutionMode, harness.DefaultExecutionMode())
	wantEqual(t, "organization", created.Organization.Name, w.organization)
	wantEqual(t, "can-update", created.Permissions.CanUpdate, true)

	byName, err := w.client.Workspaces.Read(t.Context(), w.organization, "network")
	must(t, err)
	byID, err := w.client.Workspaces.ReadByID(t.Context(), created.ID)
	must(t, err)
	wantEqual(t, "id by name", byName.ID, created.ID)
	wantEqual(t, "name by id", byID.Name, "network")

	_, err = w.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{Name: tfe.String("network")})
	wantRefusal(t, err)
	renamed, err := w.client.Workspaces.Update(t.Context(), w.organization, "network", tfe.WorkspaceUpdateOptions{
		Name: tfe.String("core-network"),
	})
	must(t, err)
	wantEqual(t, "new name", renamed.Name, "core-network")
	wantEqual(t, "description after a partial update", renamed.Description, "VPCs and subnets")
	_, err = w.client.Workspaces.Read(t.Context(), w.organization, "network")
	wantError(t, err, tfe.ErrResourceNotFound)
	described, err := w.client.Workspaces.UpdateByID(t.Context(), created.ID, tfe.WorkspaceUpdateOptions{Description: tfe.String("")})
	must(t, err)
	wantEqual(t, "cleared description", described.Description, "")

	must(t, w.client.Workspaces.Delete(t.Context(), w.organization, "core-network"))
	_, err = w.client.Workspaces.ReadByID(t.Context(), created.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestWorkspacesAreListedAndSearched(t *testing.T) {
	w := newWorld(t)
	for i := range 12 {
		w.newWorkspace(t, fmt.Sprintf("network-%02d", i))
	}
	w.newWorkspace(t, "storage")
	page, err := w.client.Workspaces.List(t.Context(), w.organization, &tfe.WorkspaceListOptions{
		ListOptions: tfe.ListOptions{PageNumber: 2, PageSize: 10},
	})
	must(t, err)
	wantEqual(t, "second page", *page.Pagination, tfe.Pagination{CurrentPage: 2, PreviousPage: 1, TotalPages: 2, TotalCount: 13})
	found, err := w.client.Workspaces.List(t.Context(), w.organization, &tfe.WorkspaceListOptions{Search: "NETWORK-0"})
	must(t, err)
	wantEqual(t, "found workspaces", found.TotalCount, 10)
	plain := w.newMember(t, "plain")
	_, err = plain.client.Workspaces.List(t.Context(), w.organization, nil)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestWorkspaceIsLockedAndUnlocked(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	locked, err := w.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{Reason: tfe.String("maintenance")})
	must(t, err)
	wantEqual(t, "locked", locked.Locked, true)
	_, err = w.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})
	wantError(t, err, tfe.ErrWorkspaceLocked)
	shown, err := w.client.Workspaces.ReadByID(t.Context(), workspace.ID)
	must(t, err)
	wantEqual(t, "holder of the lock", shown.LockedBy.User.ID, w.owner.ID)

	unlocked, err := w.client.Workspaces.Unlock(t.Context(), workspace.ID)
	must(t, err)
	wantEqual(t, "locked", unlocked.Locked, false)
	_, err = w.client.Workspaces.Unlock(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrWorkspaceNotLocked)
	_, err = w.client.Workspaces.ForceUnlock(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrWorkspaceNotLocked)
}

func TestLockOfAnotherIsOnlyForcedOpen(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	writer := w.newMember(t, "writer")
	team := w.newTeamOf(t, "writers", writer)
	w.grant(t, team, workspace, tfe.AccessWrite)
	_, err := w.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	_, err = writer.client.Workspaces.Unlock(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrWorkspaceLockedByUser)
	_, err = writer.client.Workspaces.ForceUnlock(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	_, err = w.client.Workspaces.Unlock(t.Context(), workspace.ID)
	must(t, err)

	token, err := w.client.TeamTokens.Create(t.Context(), team.ID)
	must(t, err)
	_, err = newClient(t, w.server, token.Token).Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	_, err = w.client.Workspaces.Unlock(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrWorkspaceLockedByTeam)
	forced, err := w.client.Workspaces.ForceUnlock(t.Context(), workspace.ID)
	must(t, err)
	wantEqual(t, "locked", forced.Locked, false)
}

func TestWorkspaceIsSafelyDeletedOnlyWhenUnlockedAndEmpty(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	_, err := w.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	wantError(t, w.client.Workspaces.SafeDeleteByID(t.Context(), workspace.ID), tfe.ErrWorkspaceLockedCannotDelete)
	w.uploadState(t, workspace, stateWithResource)
	_, err = w.client.Workspaces.Unlock(t.Context(), workspace.ID)
	must(t, err)
	wantError(t, w.client.Workspaces.SafeDelete(t.Context(), w.organization, "network"), tfe.ErrWorkspaceNotSafeToDelete)

	w.newWorkspace(t, "empty")
	must(t, w.client.Workspaces.SafeDelete(t.Context(), w.organization, "empty"))
	_, err = w.client.Workspaces.Read(t.Context(), w.organization, "empty")
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestWorkspacesOfOthersAreNotFound(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	plain := w.newMember(t, "plain")
	for what, err := range map[string]error{
		"read":         second(plain.client.Workspaces.ReadByID(t.Context(), workspace.ID)),
		"read by name": second(plain.client.Workspaces.Read(t.Context(), w.organization, "network")),
		"update":       second(plain.client.Workspaces.UpdateByID(t.Context(), workspace.ID, tfe.WorkspaceUpdateOptions{})),
		"lock":         second(plain.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})),
		"unlock":       second(plain.client.Workspaces.Unlock(t.Context(), workspace.ID)),
		"force-unlock": second(plain.client.Workspaces.ForceUnlock(t.Context(), workspace.ID)),
		"create": second(plain.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{
			Name: tfe.String("mine"),
		})),
		"delete":      plain.client.Workspaces.DeleteByID(t.Context(), workspace.ID),
		"safe-delete": plain.client.Workspaces.SafeDeleteByID(t.Context(), workspace.ID),
		"grants":      second(plain.client.TeamAccess.List(t.Context(), &tfe.TeamAccessListOptions{WorkspaceID: workspace.ID})),
		"state":       second(plain.client.StateVersions.ReadCurrent(t.Context(), workspace.ID)),
	} {
		t.Run(what, func(t *testing.T) { wantError(t, err, tfe.ErrResourceNotFound) })
	}
}

func second[T any](_ T, err error) error { return err }
