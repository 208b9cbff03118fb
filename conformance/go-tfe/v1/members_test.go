package v1

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness"
)

func TestMembersComeAndGoByUserName(t *testing.T) {
	w := newWorld(t)
	anna, ben := w.newMember(t, "anna"), w.newMember(t, "ben")
	team := w.newTeam(t, "readers")
	must(t, w.client.TeamMembers.Add(t.Context(), team.ID, tfe.TeamMemberAddOptions{Usernames: []string{anna.Username, ben.Username}}))
	must(t, w.client.TeamMembers.Add(t.Context(), team.ID, tfe.TeamMemberAddOptions{Usernames: []string{anna.Username}}))
	wantEqual(t, "members", w.usernames(t, team), sorted(anna.Username, ben.Username))

	must(t, w.client.TeamMembers.Remove(t.Context(), team.ID, tfe.TeamMemberRemoveOptions{Usernames: []string{ben.Username}}))
	must(t, w.client.TeamMembers.Remove(t.Context(), team.ID, tfe.TeamMemberRemoveOptions{Usernames: []string{ben.Username}}))
	wantEqual(t, "members after one has left", w.usernames(t, team), []string{anna.Username})
}

func TestMembersComeAndGoByMembership(t *testing.T) {
	w := newWorld(t)
	anna, ben := w.newMember(t, "anna"), w.newMember(t, "ben")
	team := w.newTeam(t, "readers")
	both := []string{anna.membershipID, ben.membershipID}
	must(t, w.client.TeamMembers.Add(t.Context(), team.ID, tfe.TeamMemberAddOptions{OrganizationMembershipIDs: both}))
	wantEqual(t, "memberships", w.memberships(t, team), sorted(both...))

	must(t, w.client.TeamMembers.Remove(t.Context(), team.ID, tfe.TeamMemberRemoveOptions{
		OrganizationMembershipIDs: []string{anna.membershipID},
	}))
	wantEqual(t, "memberships after one has left", w.memberships(t, team), []string{ben.membershipID})
}

func TestAddingMembersIsAllOrNothing(t *testing.T) {
	w := newWorld(t)
	anna := w.newMember(t, "anna")
	stranger := w.server.NewUser(t, "stranger")
	team := w.newTeam(t, "readers")
	for what, username := range map[string]string{"unknown user": harness.Unique("nobody"), "not in the organization": stranger.Username} {
		t.Run(what, func(t *testing.T) {
			wantRefusal(t, w.client.TeamMembers.Add(t.Context(), team.ID, tfe.TeamMemberAddOptions{
				Usernames: []string{anna.Username, username},
			}))
			wantEqual(t, "members after the refusal", len(w.usernames(t, team)), 0)
		})
	}
	wantError(t, anna.client.TeamMembers.Add(t.Context(), team.ID, tfe.TeamMemberAddOptions{
		Usernames: []string{anna.Username},
	}), tfe.ErrResourceNotFound)
}

func TestServiceAccountOfATeamIsAmongItsMembers(t *testing.T) {
	w := newWorld(t)
	team := w.newTeam(t, "readers")
	_, err := w.client.TeamTokens.Create(t.Context(), team.ID)
	must(t, err)
	users, err := w.client.TeamMembers.ListUsers(t.Context(), team.ID)
	must(t, err)
	wantEqual(t, "number of members", len(users), 1)
	wantEqual(t, "id of the service account", users[0].ID, "api-team_"+strings.TrimPrefix(team.ID, "team-"))
	wantEqual(t, "is-service-account", users[0].IsServiceAccount, true)
	shown, err := w.client.Teams.Read(t.Context(), team.ID)
	must(t, err)
	wantEqual(t, "users-count", shown.UserCount, 1)
}

func TestMembershipIsInvitedAcceptedAndEnded(t *testing.T) {
	w := newWorld(t)
	team := w.newTeam(t, "readers")
	guest := w.server.NewUser(t, "guest")
	invited, err := w.client.OrganizationMemberships.Create(t.Context(), w.organization, tfe.OrganizationMembershipCreateOptions{
		Email: tfe.String(guest.Email),
		Teams: []*tfe.Team{team},
	})
	must(t, err)
	wantEqual(t, "status", invited.Status, tfe.OrganizationMembershipInvited)
	wantEqual(t, "email", invited.Email, guest.Email)
	wantEqual(t, "organization", invited.Organization.Name, w.organization)
	wantEqual(t, "members before acceptance", len(w.usernames(t, team)), 0)
	guestClient := newClient(t, w.server, guest.Token)
	_, err = guestClient.Teams.List(t.Context(), w.organization, nil)
	wantError(t, err, tfe.ErrResourceNotFound)

	w.server.Accept(t, guest, invited.ID)
	shown, err := w.client.OrganizationMemberships.ReadWithOptions(t.Context(), invited.ID, tfe.OrganizationMembershipReadOptions{
		Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser, tfe.OrgMembershipTeam},
	})
	must(t, err)
	wantEqual(t, "status", shown.Status, tfe.OrganizationMembershipActive)
	wantEqual(t, "included user", shown.User.Username, guest.Username)
	wantEqual(t, "included team", shown.Teams[0].Name, "readers")
	wantEqual(t, "members after acceptance", w.usernames(t, team), []string{guest.Username})

	must(t, w.client.OrganizationMemberships.Delete(t.Context(), invited.ID))
	_, err = w.client.OrganizationMemberships.Read(t.Context(), invited.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	wantEqual(t, "members after the membership has ended", len(w.usernames(t, team)), 0)
	_, err = guestClient.Teams.Read(t.Context(), team.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestMembershipsAreFound(t *testing.T) {
	w := newWorld(t)
	anna := w.newMember(t, "anna")
	guest := w.server.NewUser(t, "guest")
	_, err := w.client.OrganizationMemberships.Create(t.Context(), w.organization, tfe.OrganizationMembershipCreateOptions{
		Email: tfe.String(guest.Email),
	})
	must(t, err)
	for what, search := range map[string]struct {
		options tfe.OrganizationMembershipListOptions
		want    []string
	}{
		"everybody":      {tfe.OrganizationMembershipListOptions{}, []string{anna.Email, guest.Email, w.owner.Email}},
		"filter[email]":  {tfe.OrganizationMembershipListOptions{Emails: []string{anna.Email, "none@example.com"}}, []string{anna.Email}},
		"filter[status]": {tfe.OrganizationMembershipListOptions{Status: tfe.OrganizationMembershipInvited}, []string{guest.Email}},
		"q":              {tfe.OrganizationMembershipListOptions{Query: strings.ToUpper(anna.Username)}, []string{anna.Email}},
	} {
		t.Run(what, func(t *testing.T) {
			search.options.Include = []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser}
			found, err := w.client.OrganizationMemberships.List(t.Context(), w.organization, &search.options)
			must(t, err)
			var emails []string
			for _, membership := range found.Items {
				emails = append(emails, membership.Email)
				// A user who has not accepted is shown by email only.
				username := strings.TrimSuffix(membership.Email, "@example.com")
				if membership.Status == tfe.OrganizationMembershipInvited {
					username = ""
				}
				wantEqual(t, "included user", membership.User.Username, username)
				wantEqual(t, "included user's email", membership.User.Email, membership.Email)
			}
			wantEqual(t, "found memberships", sorted(emails...), sorted(search.want...))
			wantEqual(t, "total", found.TotalCount, len(search.want))
		})
	}
	_, err = anna.client.OrganizationMemberships.List(t.Context(), w.organization, nil)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func (w world) usernames(t *testing.T, team *tfe.Team) []string {
	t.Helper()
	users, err := w.client.TeamMembers.ListUsers(t.Context(), team.ID)
	must(t, err)
	var names []string
	for _, user := range users {
		names = append(names, user.Username)
	}
	return sorted(names...)
}

func (w world) memberships(t *testing.T, team *tfe.Team) []string {
	t.Helper()
	memberships, err := w.client.TeamMembers.ListOrganizationMemberships(t.Context(), team.ID)
	must(t, err)
	var ids []string
	for _, membership := range memberships {
		ids = append(ids, membership.ID)
	}
	return sorted(ids...)
}

func sorted(words ...string) []string {
	slices.Sort(words)
	return words
}
