package v1

import (
	"testing"
	"time"

	"github.com/hashicorp/go-tfe"
)

func TestTokensLiveNoLongerThanTheOrganizationAllows(t *testing.T) {
	w := newWorld(t)
	team := w.newTeam(t, "readers")
	hours := int64(24)
	policies, err := w.client.OrganizationTokenTTLPolicies.Update(t.Context(), w.organization, tfe.OrganizationTokenTTLPolicyUpdateOptions{
		Policies: []tfe.OrganizationTokenTTLPolicyUpdateItem{{TokenType: tfe.TokenType("team"), MaxTTLMs: hours * 3_600_000}},
	})
	must(t, err)
	wantEqual(t, "has policies", len(policies) > 0, true)
	updated, err := w.client.Organizations.Update(t.Context(), w.organization, tfe.OrganizationUpdateOptions{MaxTTLEnabled: tfe.Bool(true)})
	must(t, err)
	wantEqual(t, "max-ttl-enabled", updated.MaxTTLEnabled, true)
	listed, err := w.client.OrganizationTokenTTLPolicies.List(t.Context(), w.organization, nil)
	must(t, err)
	for _, policy := range listed.Items {
		if policy.TokenType == "team" {
			wantEqual(t, "limit of teams' tokens", policy.MaxTTLMs, hours*3_600_000)
		}
	}
	created, err := w.client.TeamTokens.Create(t.Context(), team.ID)
	must(t, err)
	if life := time.Until(created.ExpiredAt); life > time.Duration(hours)*time.Hour {
		t.Fatalf("a token without an expiry lives %v", life)
	}
	late := time.Now().Add(48 * time.Hour)
	_, err = w.client.TeamTokens.CreateWithOptions(t.Context(), team.ID, tfe.TeamTokenCreateOptions{Description: tfe.String("late"), ExpiredAt: &late})
	wantRefusal(t, err)
}

func TestTokensOfUsersAreSwitchedOffForAnOrganization(t *testing.T) {
	w := newWorld(t)
	token, err := w.client.TeamTokens.Create(t.Context(), w.teamIDByName(t, "owners"))
	must(t, err)
	machine := newClient(t, w.server, token.Token)
	updated, err := machine.Organizations.Update(t.Context(), w.organization, tfe.OrganizationUpdateOptions{UserTokensEnabled: tfe.Bool(false)})
	must(t, err)
	wantEqual(t, "user-tokens-enabled", *updated.UserTokensEnabled, false)
	_, err = w.client.Teams.List(t.Context(), w.organization, nil)
	wantError(t, err, tfe.ErrUnauthorized)
	_, err = w.client.Users.ReadCurrent(t.Context())
	must(t, err)
	shown, err := machine.Organizations.Read(t.Context(), w.organization)
	must(t, err)
	wantEqual(t, "user-tokens-enabled", *shown.UserTokensEnabled, false)
	// Allow user tokens again, because the test's owner deletes the organization at the end.
	_, err = machine.Organizations.Update(t.Context(), w.organization, tfe.OrganizationUpdateOptions{UserTokensEnabled: tfe.Bool(true)})
	must(t, err)
	_, err = w.client.Teams.List(t.Context(), w.organization, nil)
	must(t, err)
}

func TestTeamTokensAreSearchedAndSorted(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"readers", "writers"} {
		_, err := w.client.TeamTokens.Create(t.Context(), w.newTeam(t, name).ID)
		must(t, err)
	}
	found, err := w.client.TeamTokens.List(t.Context(), w.organization, &tfe.TeamTokenListOptions{Query: "read"})
	must(t, err)
	wantEqual(t, "number found", len(found.Items), 1)
	sorted, err := w.client.TeamTokens.List(t.Context(), w.organization, &tfe.TeamTokenListOptions{Sort: "-team-name"})
	must(t, err)
	wantEqual(t, "number of tokens", len(sorted.Items), 2)
	wantEqual(t, "last by name", sorted.Items[1].ID, found.Items[0].ID)
}
