package v1

import (
	"testing"

	"github.com/hashicorp/go-tfe"
)

// The tests of this file apply only to the dialect `current`. All others apply to both dialects.

func TestCurrentDialectHasSixteenFlagsEverywhere(t *testing.T) {
	w := newWorld(t)
	on := tfe.Bool(true)
	team, err := w.client.Teams.Create(t.Context(), w.organization, tfe.TeamCreateOptions{
		Name: tfe.String("platform"),
		OrganizationAccess: &tfe.OrganizationAccessOptions{
			ManagePolicies: on, ManagePolicyOverrides: on, DelegatePolicyOverrides: on, ManageWorkspaces: on,
			ManageVCSSettings: on, ManageProviders: on, ManageModules: on, ManageRunTasks: on, ManageProjects: on,
			ReadWorkspaces: on, ReadProjects: on, ManageMembership: on, ManageTeams: on, ManageOrganizationAccess: on,
			AccessSecretTeams: on, ManageAgentPools: on,
		},
	})
	must(t, err)
	all := tfe.OrganizationAccess{
		ManagePolicies: true, ManagePolicyOverrides: true, DelegatePolicyOverrides: true, ManageWorkspaces: true,
		ManageVCSSettings: true, ManageProviders: true, ManageModules: true, ManageRunTasks: true, ManageProjects: true,
		ReadWorkspaces: true, ReadProjects: true, ManageMembership: true, ManageTeams: true, ManageOrganizationAccess: true,
		AccessSecretTeams: true, ManageAgentPools: true,
	}
	wantEqual(t, "flags of the created team", *team.OrganizationAccess, all)
	listed, err := w.client.Teams.List(t.Context(), w.organization, &tfe.TeamListOptions{Names: []string{"platform"}})
	must(t, err)
	wantEqual(t, "flags in the list", *listed.Items[0].OrganizationAccess, all)
}

func TestCurrentDialectKeepsWhatTheProviderSends(t *testing.T) {
	w := newWorld(t)
	team, err := w.client.Teams.Update(t.Context(), w.newTeam(t, "platform").ID, tfe.TeamUpdateOptions{
		OrganizationAccess: &tfe.OrganizationAccessOptions{ManageWorkspaces: tfe.Bool(true), ReadWorkspaces: tfe.Bool(false)},
	})
	must(t, err)
	wantEqual(t, "flags", *team.OrganizationAccess, tfe.OrganizationAccess{ManageWorkspaces: true})
	shown, err := w.client.Teams.Read(t.Context(), team.ID)
	must(t, err)
	wantEqual(t, "flags of the shown team", *shown.OrganizationAccess, tfe.OrganizationAccess{ManageWorkspaces: true})
}

func TestCurrentDialectShowsSecretTeamsToThoseWithTheFlag(t *testing.T) {
	w := newWorld(t)
	auditor, other := w.newMember(t, "auditor"), w.newMember(t, "other")
	secret := w.newTeam(t, "secret")
	_, err := auditor.client.Teams.Read(t.Context(), secret.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	auditors := w.newTeamOf(t, "auditors", auditor)
	_, err = w.client.Teams.Update(t.Context(), auditors.ID, tfe.TeamUpdateOptions{
		OrganizationAccess: &tfe.OrganizationAccessOptions{AccessSecretTeams: tfe.Bool(true)},
	})
	must(t, err)
	_, err = auditor.client.Teams.Read(t.Context(), secret.ID)
	must(t, err)
	_, err = other.client.Teams.Read(t.Context(), secret.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestCurrentDialectShowsInvitedMembershipsInTeams(t *testing.T) {
	w := newWorld(t)
	team := w.newTeam(t, "readers")
	guest := w.server.NewUser(t, "guest")
	invited, err := w.client.OrganizationMemberships.Create(t.Context(), w.organization, tfe.OrganizationMembershipCreateOptions{
		Email: tfe.String(guest.Email),
		Teams: []*tfe.Team{team},
	})
	must(t, err)
	wantEqual(t, "memberships of the team", w.memberships(t, team), []string{invited.ID})
	wantEqual(t, "users of the team", len(w.usernames(t, team)), 0)
	shown, err := w.client.Teams.Read(t.Context(), team.ID)
	must(t, err)
	wantEqual(t, "users-count", shown.UserCount, 0)
}

func TestCurrentDialectSaysRemoteButRunsNothing(t *testing.T) {
	w := newWorld(t)
	organization, err := w.client.Organizations.Read(t.Context(), w.organization)
	must(t, err)
	wantEqual(t, "default-execution-mode", organization.DefaultExecutionMode, "remote")
	wantEqual(t, "execution-mode of a workspace", w.newWorkspace(t, "network").ExecutionMode, "remote")
	entitlements, err := w.client.Organizations.ReadEntitlements(t.Context(), w.organization)
	must(t, err)
	wantEqual(t, "entitlement: operations", entitlements.Operations, false)
}
