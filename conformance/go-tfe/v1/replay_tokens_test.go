package v1

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness/replay"
)

// The text of a token is shown once, and reading one with another changes when that was last used.
var changingOfTokens = []string{"token", "last-used-at"}

func inTwoDays() string {
	return time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
}

func replayTeamToken(t *testing.T, w world, all *replay.Replays) {
	team := w.newTeam(t, "readers")
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			// The provider refuses to replace a token that is there.
			if _, err := w.client.TeamTokens.Read(t.Context(), team.ID); !errors.Is(err, tfe.ErrResourceNotFound) {
				t.Fatalf("before creation: got error %v, want none to be found", err)
			}
			created, err := w.client.TeamTokens.CreateWithOptions(t.Context(), team.ID, options[tfe.TeamTokenCreateOptions](t, config))
			return reading(team.ID, created, err)
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			shown, err := w.client.TeamTokens.Read(t.Context(), id)
			return reading(id, shown, err)
		},
		// With force_regenerate.
		Update: func(t *testing.T, id string, _, config replay.Fields) (replay.Answer, error) {
			created, err := w.client.TeamTokens.CreateWithOptions(t.Context(), id, options[tfe.TeamTokenCreateOptions](t, config))
			return reading(id, created, err)
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by the team's id": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
		},
		Destroy:  func(t *testing.T, id string) error { return unlessGone(w.client.TeamTokens.Delete(t.Context(), id)) },
		Changing: changingOfTokens,
	}
	all.Play(t, "tfe_team_token", resource,
		replay.Step{Name: "without anything", Config: replay.Fields{}},
		replay.Step{Name: "expired_at", Config: replay.Fields{"expired-at": inTwoDays()}},
		replay.Step{Name: "expired_at unset", Config: replay.Fields{}},
	)
}

func replayDescribedTeamToken(t *testing.T, w world, all *replay.Replays) {
	team := w.newTeam(t, "readers")
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			created, err := w.client.TeamTokens.CreateWithOptions(t.Context(), team.ID, options[tfe.TeamTokenCreateOptions](t, config))
			if err != nil {
				return replay.Answer{}, err
			}
			return reading(created.ID, created, err)
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			shown, err := w.client.TeamTokens.ReadByID(t.Context(), id)
			return reading(id, shown, err)
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by id": func(t *testing.T, id string, _ replay.Fields) (string, error) {
				shown, err := w.client.TeamTokens.ReadByID(t.Context(), id)
				must(t, err)
				wantEqual(t, "team of the imported token", shown.Team.ID, team.ID)
				return shown.ID, nil
			},
		},
		Destroy: func(t *testing.T, id string) error {
			return unlessGone(w.client.TeamTokens.DeleteByID(t.Context(), id))
		},
		Changing: changingOfTokens,
	}
	all.Play(t, "tfe_team_token, described", resource, replay.Step{Name: "description", Config: replay.Fields{"description": "build"}})
	all.Play(t, "tfe_team_token, described", resource, replay.Step{
		Name: "description and expired_at", Config: replay.Fields{"description": "build", "expired-at": inTwoDays()},
	})
}

// The ephemeral resource makes a described token, and when it is closed asks to delete the token of a team whose id is
// that of the token: it takes "not found" for good, and the token stays until it expires.
func replayEphemeralTeamToken(t *testing.T, w world, all *replay.Replays) {
	team := w.newTeam(t, "readers")
	expiry := inTwoDays()
	created, err := w.client.TeamTokens.CreateWithOptions(t.Context(), team.ID,
		options[tfe.TeamTokenCreateOptions](t, replay.Fields{"description": "run", "expired-at": expiry}))
	must(t, err)
	all.Compare(t, "tfe_team_token, ephemeral", replay.Fields{"description": "run", "expired-at": expiry}, answer(created.ID, created).Fields)
	wantTeamSeenBy(t, w, created.Token, team)
	wantError(t, w.client.TeamTokens.Delete(t.Context(), created.ID), tfe.ErrResourceNotFound)
	_, err = w.client.TeamTokens.ReadByID(t.Context(), created.ID)
	must(t, err)
}

func replayOrganizationToken(t *testing.T, w world, all *replay.Replays) {
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			if _, err := w.client.OrganizationTokens.Read(t.Context(), w.organization); !errors.Is(err, tfe.ErrResourceNotFound) {
				t.Fatalf("before creation: got error %v, want none to be found", err)
			}
			created, err := w.client.OrganizationTokens.CreateWithOptions(t.Context(), w.organization, options[tfe.OrganizationTokenCreateOptions](t, config))
			return reading(w.organization, created, err)
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			shown, err := w.client.OrganizationTokens.Read(t.Context(), id)
			return reading(id, shown, err)
		},
		Update: func(t *testing.T, id string, _, config replay.Fields) (replay.Answer, error) {
			created, err := w.client.OrganizationTokens.CreateWithOptions(t.Context(), id, options[tfe.OrganizationTokenCreateOptions](t, config))
			return reading(id, created, err)
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by the organization's name": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
		},
		Destroy: func(t *testing.T, id string) error {
			return unlessGone(w.client.OrganizationTokens.Delete(t.Context(), id))
		},
		Changing: changingOfTokens,
	}
	all.Play(t, "tfe_organization_token", resource,
		replay.Step{Name: "without anything", Config: replay.Fields{}},
		replay.Step{Name: "expired_at", Config: replay.Fields{"expired-at": inTwoDays()}},
		replay.Step{Name: "expired_at unset", Config: replay.Fields{}},
	)
}
