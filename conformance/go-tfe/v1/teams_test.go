package v1

import (
	"fmt"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness"
)

func TestTeamIsCreatedShownUpdatedAndDeleted(t *testing.T) {
	w := newWorld(t)
	created, err := w.client.Teams.Create(t.Context(), w.organization, tfe.TeamCreateOptions{Name: tfe.String("readers")})
	must(t, err)
	wantEqual(t, "name", created.Name, "readers")
	wantEqual(t, "visibility", created.Visibility, "secret")
	wantEqual(t, "flags", *created.OrganizationAccess, tfe.OrganizationAccess{})
	wantEqual(t, "permissions", *created.Permissions, tfe.TeamPermissions{CanDestroy: true, CanUpdateMembership: true})
	wantEqual(t, "members", created.UserCount, 0)
	wantEqual(t, "sso-team-id", created.SSOTeamID, "")
	wantEqual(t, "allow-member-token-management", created.AllowMemberTokenManagement, true)

	shown, err := w.client.Teams.Read(t.Context(), created.ID)
	must(t, err)
	wantEqual(t, "shown team", *shown, *created)

	updated, err := w.client.Teams.Update(t.Context(), created.ID, tfe.TeamUpdateOptions{
		Name:                       tfe.String("output-readers"),
		Visibility:                 tfe.String("organization"),
		SSOTeamID:                  tfe.String("saml-readers"),
		AllowMemberTokenManagement: tfe.Bool(false),
		OrganizationAccess:         &tfe.OrganizationAccessOptions{ManageModules: tfe.Bool(true)},
	})
	must(t, err)
	wantEqual(t, "name", updated.Name, "output-readers")
	wantEqual(t, "visibility", updated.Visibility, "organization")
	wantEqual(t, "sso-team-id", updated.SSOTeamID, "saml-readers")
	wantEqual(t, "allow-member-token-management", updated.AllowMemberTokenManagement, false)
	wantEqual(t, "flags", *updated.OrganizationAccess, tfe.OrganizationAccess{ManageModules: true})

	kept, err := w.client.Teams.Update(t.Context(), created.ID, tfe.TeamUpdateOptions{SSOTeamID: tfe.String("")})
	must(t, err)
	wantEqual(t, "cleared sso-team-id", kept.SSOTeamID, "")
	wantEqual(t, "name after a partial update", kept.Name, "output-readers")
	wantEqual(t, "flags after a partial update", *kept.OrganizationAccess, tfe.OrganizationAccess{ManageModules: true})

	must(t, w.client.Teams.Delete(t.Context(), created.ID))
	_, err = w.client.Teams.Read(t.Context(), created.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	wantError(t, w.client.Teams.Delete(t.Context(), created.ID), tfe.ErrResourceNotFound)
}

// flagCase turns one flag on and has the flags that the answer must then hold.
type flagCase struct {
	name string
	set  tfe.OrganizationAccessOptions
	want tfe.OrganizationAccess
}

func flagCases() []flagCase {
	on := tfe.Bool(true)
	return []flagCase{
		{"manage-policies", tfe.OrganizationAccessOptions{ManagePolicies: on}, tfe.OrganizationAccess{ManagePolicies: true}},
		{"manage-policy-overrides", tfe.OrganizationAccessOptions{ManagePolicyOverrides: on}, tfe.OrganizationAccess{ManagePolicyOverrides: true}},
		{"manage-run-tasks", tfe.OrganizationAccessOptions{ManageRunTasks: on}, tfe.OrganizationAccess{ManageRunTasks: true}},
		{"manage-vcs-settings", tfe.OrganizationAccessOptions{ManageVCSSettings: on}, tfe.OrganizationAccess{ManageVCSSettings: true}},
		{"manage-agent-pools", tfe.OrganizationAccessOptions{ManageAgentPools: on}, tfe.OrganizationAccess{ManageAgentPools: true}},
		{"manage-providers", tfe.OrganizationAccessOptions{ManageProviders: on}, tfe.OrganizationAccess{ManageProviders: true}},
		{"manage-modules", tfe.OrganizationAccessOptions{ManageModules: on}, tfe.OrganizationAccess{ManageModules: true}},
		{"manage-membership", tfe.OrganizationAccessOptions{ManageMembership: on}, tfe.OrganizationAccess{ManageMembership: true}},
		{"manage-teams", tfe.OrganizationAccessOptions{ManageTeams: on}, tfe.OrganizationAccess{ManageTeams: true}},
		{"manage-organization-access", tfe.OrganizationAccessOptions{ManageOrganizationAccess: on}, tfe.OrganizationAccess{ManageOrganizationAccess: true}},
		{"read-workspaces", tfe.OrganizationAccessOptions{ReadWorkspaces: on}, tfe.OrganizationAccess{ReadWorkspaces: true}},
		{"read-projects", tfe.OrganizationAccessOptions{ReadProjects: on}, tfe.OrganizationAccess{ReadProjects: true, ReadWorkspaces: true}},
		{"manage-workspaces", tfe.OrganizationAccessOptions{ManageWorkspaces: on}, tfe.OrganizationAccess{ManageWorkspaces: true, ReadWorkspaces: true}},
		{
			"manage-projects",
			tfe.OrganizationAccessOptions{ManageProjects: on},
			tfe.OrganizationAccess{ManageProjects: true, ManageWorkspaces: true, ReadWorkspaces: true},
		},
	}
}

func TestEveryFlagOfATeamCanBeTurnedOn(t *testing.T) {
	w := newWorld(t)
	for _, flag := range flagCases() {
		t.Run(flag.name, func(t *testing.T) {
			created, err := w.client.Teams.Create(t.Context(), w.organization, tfe.TeamCreateOptions{
				Name:               tfe.String("created-with-" + flag.name),
				OrganizationAccess: &flag.set,
			})
			must(t, err)
			wantEqual(t, "flags of the created team", *created.OrganizationAccess, flag.want)

			updated, err := w.client.Teams.Update(t.Context(), w.newTeam(t, "updated-with-"+flag.name).ID, tfe.TeamUpdateOptions{
				OrganizationAccess: &flag.set,
			})
			must(t, err)
			wantEqual(t, "flags of the updated team", *updated.OrganizationAccess, flag.want)
			shown, err := w.client.Teams.Read(t.Context(), updated.ID)
			must(t, err)
			wantEqual(t, "flags of the shown team", *shown.OrganizationAccess, flag.want)
		})
	}
}

func TestContradictingFlagsAreRefused(t *testing.T) {
	w := newWorld(t)
	team := w.newTeam(t, "planners")
	for name, flags := range map[string]tfe.OrganizationAccessOptions{
		"manage-projects without manage-workspaces": {ManageProjects: tfe.Bool(true), ManageWorkspaces: tfe.Bool(false)},
		"read-projects without read-workspaces":     {ReadProjects: tfe.Bool(true), ReadWorkspaces: tfe.Bool(false)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.client.Teams.Update(t.Context(), team.ID, tfe.TeamUpdateOptions{OrganizationAccess: &flags})
			wantRefusal(t, err)
			shown, err := w.client.Teams.Read(t.Context(), team.ID)
			must(t, err)
			wantEqual(t, "flags after the refusal", *shown.OrganizationAccess, tfe.OrganizationAccess{})
		})
	}
}

func TestBadTeamsAreRefused(t *testing.T) {
	w := newWorld(t)
	w.newTeam(t, "taken")
	for name, options := range map[string]tfe.TeamCreateOptions{
		"taken name":         {Name: tfe.String("taken")},
		"name with a space":  {Name: tfe.String("two words")},
		"unknown visibility": {Name: tfe.String("seen"), Visibility: tfe.String("public")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.client.Teams.Create(t.Context(), w.organization, options)
			wantRefusal(t, err)
		})
	}
	_, err := w.client.Teams.Create(t.Context(), harness.Unique("missing"), tfe.TeamCreateOptions{Name: tfe.String("nobody")})
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestTeamsAreListedByPage(t *testing.T) {
	w := newWorld(t)
	for i := range 24 {
		w.newTeam(t, fmt.Sprintf("team-%02d", i))
	}
	first, err := w.client.Teams.List(t.Context(), w.organization, nil)
	must(t, err)
	wantEqual(t, "first page", *first.Pagination, tfe.Pagination{CurrentPage: 1, NextPage: 2, TotalPages: 2, TotalCount: 25})
	wantEqual(t, "first names", []string{first.Items[0].Name, first.Items[1].Name}, []string{"owners", "team-00"})
	wantEqual(t, "teams on the first page", len(first.Items), 20)

	last, err := w.client.Teams.List(t.Context(), w.organization, &tfe.TeamListOptions{
		ListOptions: tfe.ListOptions{PageNumber: 3, PageSize: 10},
	})
	must(t, err)
	wantEqual(t, "last page", *last.Pagination, tfe.Pagination{CurrentPage: 3, PreviousPage: 2, TotalPages: 3, TotalCount: 25})
	wantEqual(t, "teams on the last page", len(last.Items), 5)

	beyond, err := w.client.Teams.List(t.Context(), w.organization, &tfe.TeamListOptions{
		ListOptions: tfe.ListOptions{PageNumber: 999},
	})
	must(t, err)
	wantEqual(t, "teams past the end", len(beyond.Items), 0)
	wantEqual(t, "total past the end", beyond.TotalCount, 25)
}

func TestTeamsAreFoundByNameAndSearch(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"Payments-Admins", "payments-readers", "search_and", "searchXand"} {
		w.newTeam(t, name)
	}
	for what, search := range map[string]struct {
		options tfe.TeamListOptions
		want    []string
	}{
		"q in another case":       {tfe.TeamListOptions{Query: "PAYMENTS"}, []string{"Payments-Admins", "payments-readers"}},
		"q takes _ as it is":      {tfe.TeamListOptions{Query: "h_a"}, []string{"search_and"}},
		"q that nothing has":      {tfe.TeamListOptions{Query: "nothing"}, nil},
		"filter[names]":           {tfe.TeamListOptions{Names: []string{"owners", "search_and", "none"}}, []string{"owners", "search_and"}},
		"filter[names] is exact":  {tfe.TeamListOptions{Names: []string{"payments-admins"}}, nil},
		"q and filter[names]":     {tfe.TeamListOptions{Query: "pay", Names: []string{"owners", "payments-readers"}}, []string{"payments-readers"}},
		"a page within the found": {tfe.TeamListOptions{Query: "search", ListOptions: tfe.ListOptions{PageNumber: 2, PageSize: 1}}, []string{"search_and"}},
	} {
		t.Run(what, func(t *testing.T) {
			found, err := w.client.Teams.List(t.Context(), w.organization, &search.options)
			must(t, err)
			wantEqual(t, "found teams", teamNames(found), search.want)
		})
	}
}

func TestTeamsAreListedWithTheirMembers(t *testing.T) {
	w := newWorld(t)
	anna := w.newMember(t, "anna")
	w.newTeamOf(t, "readers", anna)
	listed, err := w.client.Teams.List(t.Context(), w.organization, &tfe.TeamListOptions{
		Names:   []string{"readers"},
		Include: []tfe.TeamIncludeOpt{tfe.TeamUsers, tfe.TeamOrganizationMemberships},
	})
	must(t, err)
	team := listed.Items[0]
	wantEqual(t, "users-count", team.UserCount, 1)
	wantEqual(t, "user name of the included user", team.Users[0].Username, anna.Username)
	wantEqual(t, "included membership", team.OrganizationMemberships[0].ID, anna.membershipID)
	wantEqual(t, "address of the included membership", team.OrganizationMemberships[0].Email, anna.Email)
	wantEqual(t, "status of the included membership", team.OrganizationMemberships[0].Status, tfe.OrganizationMembershipActive)

	_, err = w.client.Teams.List(t.Context(), w.organization, &tfe.TeamListOptions{Include: []tfe.TeamIncludeOpt{"workspaces"}})
	wantError(t, err, tfe.ErrInvalidIncludeValue)
}

func TestSecretTeamIsHiddenFromThoseOutsideIt(t *testing.T) {
	w := newWorld(t)
	insider, other := w.newMember(t, "insider"), w.newMember(t, "other")
	secret := w.newTeamOf(t, "secret", insider)
	visible, err := w.client.Teams.Create(t.Context(), w.organization, tfe.TeamCreateOptions{
		Name:       tfe.String("visible"),
		Visibility: tfe.String("organization"),
	})
	must(t, err)

	_, err = other.client.Teams.Read(t.Context(), secret.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	listed, err := other.client.Teams.List(t.Context(), w.organization, nil)
	must(t, err)
	wantEqual(t, "teams that the other member sees", teamNames(listed), []string{"visible"})
	wantEqual(t, "number of teams that the other member sees", listed.TotalCount, 1)

	seen, err := insider.client.Teams.Read(t.Context(), secret.ID)
	must(t, err)
	wantEqual(t, "permissions of a plain member", *seen.Permissions, tfe.TeamPermissions{})
	_, err = insider.client.Teams.Update(t.Context(), visible.ID, tfe.TeamUpdateOptions{Name: tfe.String("renamed")})
	wantError(t, err, tfe.ErrResourceNotFound)
	wantError(t, insider.client.Teams.Delete(t.Context(), secret.ID), tfe.ErrResourceNotFound)
	_, err = insider.client.Teams.Create(t.Context(), w.organization, tfe.TeamCreateOptions{Name: tfe.String("mine")})
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestOutsiderSeesNothingOfTheOrganization(t *testing.T) {
	w := newWorld(t)
	team := w.newTeam(t, "readers")
	outsider := newClient(t, w.server, w.server.NewUser(t, "outsider").Token)
	_, err := outsider.Teams.List(t.Context(), w.organization, nil)
	wantError(t, err, tfe.ErrResourceNotFound)
	_, err = outsider.Teams.Read(t.Context(), team.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	_, err = outsider.Organizations.ReadEntitlements(t.Context(), w.organization)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestBadTokenIsUnauthorized(t *testing.T) {
	w := newWorld(t)
	team := w.newTeam(t, "readers")
	stranger := newClient(t, w.server, "no-such-token")
	_, err := stranger.Teams.Read(t.Context(), team.ID)
	wantError(t, err, tfe.ErrUnauthorized)
	_, err = stranger.Teams.List(t.Context(), harness.Unique("missing"), nil)
	wantError(t, err, tfe.ErrUnauthorized)
	_, err = stranger.Users.ReadCurrent(t.Context())
	wantError(t, err, tfe.ErrUnauthorized)
}

func TestOwnersTeamIsProtected(t *testing.T) {
	w := newWorld(t)
	listed, err := w.client.Teams.List(t.Context(), w.organization, &tfe.TeamListOptions{Names: []string{"owners"}})
	must(t, err)
	owners := listed.Items[0]
	_, err = w.client.Teams.Update(t.Context(), owners.ID, tfe.TeamUpdateOptions{Name: tfe.String("bosses")})
	wantRefusal(t, err)
	wantRefusal(t, w.client.Teams.Delete(t.Context(), owners.ID))
	wantRefusal(t, w.client.TeamMembers.Remove(t.Context(), owners.ID, tfe.TeamMemberRemoveOptions{
		Usernames: []string{w.owner.Username},
	}))
}

func teamNames(teams *tfe.TeamList) []string {
	var names []string
	for _, team := range teams.Items {
		names = append(names, team.Name)
	}
	return names
}
