package v1

import (
	"strings"
	"testing"

	"github.com/hashicorp/go-tfe"
)

// details returns what a team may do in a workspace, without the ids.
func details(access *tfe.TeamAccess) tfe.TeamAccess {
	plain := *access
	plain.ID, plain.Team, plain.Workspace = "", nil, nil
	return plain
}

func TestFixedLevelsOfAccessHaveTheirDetails(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	for _, want := range []tfe.TeamAccess{
		{Access: tfe.AccessRead, Runs: "read", Variables: "read", StateVersions: "read", SentinelMocks: "none"},
		{Access: tfe.AccessPlan, Runs: "plan", Variables: "read", StateVersions: "read", SentinelMocks: "none"},
		{Access: tfe.AccessWrite, Runs: "apply", Variables: "write", StateVersions: "write", SentinelMocks: "read", WorkspaceLocking: true},
		{
			Access: tfe.AccessAdmin, Runs: "apply", Variables: "write", StateVersions: "write", SentinelMocks: "read",
			WorkspaceLocking: true, RunTasks: true, PolicyOverrides: true,
		},
	} {
		t.Run(string(want.Access), func(t *testing.T) {
			team := w.newTeam(t, "team-"+string(want.Access))
			granted := w.grant(t, team, workspace, want.Access)
			wantEqual(t, "details", details(granted), want)
			shown, err := w.client.TeamAccess.Read(t.Context(), granted.ID)
			must(t, err)
			wantEqual(t, "shown details", details(shown), want)
			wantEqual(t, "team", shown.Team.ID, team.ID)
			wantEqual(t, "workspace", shown.Workspace.ID, workspace.ID)
		})
	}
}

func TestCustomAccessIsGrantedChangedAndRemoved(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	team := w.newTeam(t, "readers")
	custom := tfe.TeamAccess{Access: tfe.AccessCustom, Runs: "read", Variables: "none", StateVersions: "read-outputs", SentinelMocks: "none"}
	granted := w.grantReadOutputs(t, team, workspace)
	wantEqual(t, "details", details(granted), custom)

	listed, err := w.client.TeamAccess.List(t.Context(), &tfe.TeamAccessListOptions{WorkspaceID: workspace.ID})
	must(t, err)
	wantEqual(t, "number of grants", len(listed.Items), 1)
	wantEqual(t, "listed grant", listed.Items[0].ID, granted.ID)

	locking, err := w.client.TeamAccess.Update(t.Context(), granted.ID, tfe.TeamAccessUpdateOptions{WorkspaceLocking: tfe.Bool(true)})
	must(t, err)
	custom.WorkspaceLocking = true
	wantEqual(t, "details with one changed", details(locking), custom)
	plan, err := w.client.TeamAccess.Update(t.Context(), granted.ID, tfe.TeamAccessUpdateOptions{Access: tfe.Access(tfe.AccessPlan)})
	must(t, err)
	wantEqual(t, "details of the new level", details(plan),
		tfe.TeamAccess{Access: tfe.AccessPlan, Runs: "plan", Variables: "read", StateVersions: "read", SentinelMocks: "none"})

	must(t, w.client.TeamAccess.Remove(t.Context(), granted.ID))
	_, err = w.client.TeamAccess.Read(t.Context(), granted.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestAccessThatMakesNoSenseIsRefused(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	team := w.newTeam(t, "readers")
	_, err := w.client.TeamAccess.Add(t.Context(), tfe.TeamAccessAddOptions{
		Access:    tfe.Access(tfe.AccessRead),
		Runs:      tfe.RunsPermission(tfe.RunsPermissionApply),
		Team:      team,
		Workspace: workspace,
	})
	wantRefusal(t, err)
	if !strings.Contains(err.Error(), "Runs is read-only when access level is 'read'") {
		t.Fatalf("got %q", err)
	}
	w.grant(t, team, workspace, tfe.AccessRead)
	_, err = w.client.TeamAccess.Add(t.Context(), tfe.TeamAccessAddOptions{
		Access:    tfe.Access(tfe.AccessRead),
		Team:      team,
		Workspace: workspace,
	})
	wantRefusal(t, err)
}

func TestGrantOpensAWorkspaceAndItsRemovalClosesIt(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	reader := w.newMember(t, "reader")
	team := w.newTeamOf(t, "readers", reader)
	_, err := reader.client.Workspaces.ReadByID(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	granted := w.grantReadOutputs(t, team, workspace)
	_, err = reader.client.Workspaces.ReadByID(t.Context(), workspace.ID)
	must(t, err)
	wantError(t, reader.client.TeamAccess.Remove(t.Context(), granted.ID), tfe.ErrResourceNotFound)
	must(t, w.client.TeamAccess.Remove(t.Context(), granted.ID))
	_, err = reader.client.Workspaces.ReadByID(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
}
