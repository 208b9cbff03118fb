package v1

import (
	"testing"
	"time"

	"github.com/hashicorp/go-tfe"
)

func TestTeamTokenIsCreatedReplacedAndDeleted(t *testing.T) {
	w := newWorld(t)
	team := w.newTeam(t, "readers")
	_, err := w.client.TeamTokens.Read(t.Context(), team.ID)
	wantError(t, err, tfe.ErrResourceNotFound)

	first, err := w.client.TeamTokens.Create(t.Context(), team.ID)
	must(t, err)
	wantAbout(t, "default expiry", first.ExpiredAt, time.Now().AddDate(2, 0, 0))
	read, err := w.client.TeamTokens.Read(t.Context(), team.ID)
	must(t, err)
	wantEqual(t, "id", read.ID, first.ID)
	wantEqual(t, "text of a token that is only read", read.Token, "")

	second, err := w.client.TeamTokens.Create(t.Context(), team.ID)
	must(t, err)
	wantUnauthorized(t, w, first.Token)
	wantTeamSeenBy(t, w, second.Token, team)

	must(t, w.client.TeamTokens.Delete(t.Context(), team.ID))
	_, err = w.client.TeamTokens.Read(t.Context(), team.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	wantUnauthorized(t, w, second.Token)
}

func TestTeamHasSeveralTokensWithDescriptions(t *testing.T) {
	w := newWorld(t)
	team := w.newTeam(t, "readers")
	expiry := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	build, err := w.client.TeamTokens.CreateWithOptions(t.Context(), team.ID, tfe.TeamTokenCreateOptions{
		Description: tfe.String("build"),
		ExpiredAt:   &expiry,
	})
	must(t, err)
	wantEqual(t, "expiry", build.ExpiredAt.UTC(), expiry)
	deploy, err := w.client.TeamTokens.CreateWithOptions(t.Context(), team.ID, tfe.TeamTokenCreateOptions{
		Description: tfe.String("deploy"),
	})
	must(t, err)
	wantTeamSeenBy(t, w, build.Token, team)
	wantTeamSeenBy(t, w, deploy.Token, team)

	read, err := w.client.TeamTokens.ReadByID(t.Context(), build.ID)
	must(t, err)
	wantEqual(t, "description", *read.Description, "build")
	wantEqual(t, "team", read.Team.ID, team.ID)
	wantEqual(t, "creator", read.CreatedBy.User.ID, w.owner.ID)

	listed, err := w.client.TeamTokens.List(t.Context(), w.organization, nil)
	must(t, err)
	wantEqual(t, "number of listed tokens", len(listed.Items), 2)

	must(t, w.client.TeamTokens.DeleteByID(t.Context(), build.ID))
	_, err = w.client.TeamTokens.ReadByID(t.Context(), build.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	wantUnauthorized(t, w, build.Token)
	wantTeamSeenBy(t, w, deploy.Token, team)
}

func TestOnlyThoseWhoMaySeeATeamReachItsTokens(t *testing.T) {
	w := newWorld(t)
	insider, other := w.newMember(t, "insider"), w.newMember(t, "other")
	team := w.newTeamOf(t, "readers", insider)
	_, err := other.client.TeamTokens.Create(t.Context(), team.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	_, err = insider.client.TeamTokens.Create(t.Context(), team.ID)
	must(t, err)
	_, err = w.client.Teams.Update(t.Context(), team.ID, tfe.TeamUpdateOptions{AllowMemberTokenManagement: tfe.Bool(false)})
	must(t, err)
	_, err = insider.client.TeamTokens.Create(t.Context(), team.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestOrganizationTokenActsAsAnOwnerOfTeams(t *testing.T) {
	w := newWorld(t)
	_, err := w.client.OrganizationTokens.Read(t.Context(), w.organization)
	wantError(t, err, tfe.ErrResourceNotFound)
	expiry := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	created, err := w.client.OrganizationTokens.CreateWithOptions(t.Context(), w.organization, tfe.OrganizationTokenCreateOptions{
		ExpiredAt: &expiry,
	})
	must(t, err)
	wantEqual(t, "expiry", created.ExpiredAt.UTC(), expiry)

	machine := newClient(t, w.server, created.Token)
	team, err := machine.Teams.Create(t.Context(), w.organization, tfe.TeamCreateOptions{Name: tfe.String("made-by-machine")})
	must(t, err)
	_, err = machine.Teams.Update(t.Context(), team.ID, tfe.TeamUpdateOptions{Visibility: tfe.String("organization")})
	must(t, err)
	must(t, machine.Teams.Delete(t.Context(), team.ID))
	_, err = machine.OrganizationTokens.Create(t.Context(), w.organization)
	wantError(t, err, tfe.ErrResourceNotFound)

	must(t, w.client.OrganizationTokens.Delete(t.Context(), w.organization))
	wantUnauthorized(t, w, created.Token)
}

func TestUserTokensAreCreatedListedAndDeleted(t *testing.T) {
	w := newWorld(t)
	expiry := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	created, err := w.client.UserTokens.Create(t.Context(), w.owner.ID, tfe.UserTokenCreateOptions{
		Description: "laptop",
		ExpiredAt:   &expiry,
	})
	must(t, err)
	wantEqual(t, "expiry", created.ExpiredAt.UTC(), expiry)
	current, err := newClient(t, w.server, created.Token).Users.ReadCurrent(t.Context())
	must(t, err)
	wantEqual(t, "user of the new token", current.Username, w.owner.Username)

	listed, err := w.client.UserTokens.List(t.Context(), w.owner.ID)
	must(t, err)
	wantEqual(t, "number of tokens", len(listed.Items), 2)
	read, err := w.client.UserTokens.Read(t.Context(), created.ID)
	must(t, err)
	wantEqual(t, "description", read.Description, "laptop")
	wantEqual(t, "text of a token that is only read", read.Token, "")

	stranger := newClient(t, w.server, w.server.NewUser(t, "stranger").Token)
	_, err = stranger.UserTokens.Read(t.Context(), created.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	_, err = stranger.UserTokens.List(t.Context(), w.owner.ID)
	wantError(t, err, tfe.ErrResourceNotFound)

	must(t, w.client.UserTokens.Delete(t.Context(), created.ID))
	wantUnauthorized(t, w, created.Token)
}

func wantUnauthorized(t *testing.T, w world, token string) {
	t.Helper()
	_, err := newClient(t, w.server, token).Users.ReadCurrent(t.Context())
	wantError(t, err, tfe.ErrUnauthorized)
}

func wantTeamSeenBy(t *testing.T, w world, token string, team *tfe.Team) {
	t.Helper()
	seen, err := newClient(t, w.server, token).Teams.Read(t.Context(), team.ID)
	must(t, err)
	wantEqual(t, "team seen with the token", seen.ID, team.ID)
}

func wantAbout(t *testing.T, what string, got, want time.Time) {
	t.Helper()
	if difference := got.Sub(want).Abs(); difference > 48*time.Hour {
		t.Fatalf("%s: got %v, want about %v", what, got, want)
	}
}
