package v2

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"purser.example/conformance/harness/replay"
)

// Creates a token with plain HTTP, because this release of the library cannot decode the answer.
func (w world) postToken(t *testing.T, path string, config replay.Fields) string {
	t.Helper()
	return w.server.Create(t, w.owner.Token, path, "", config).ID
}

func inTwoDays() string {
	return time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
}

func replayTeamToken(t *testing.T, w world, all *replay.Replays) {
	team := *w.newTeam(t, "readers").GetId()
	token := w.client.API.Teams().ById(team).AuthenticationToken()
	write := func(t *testing.T, config replay.Fields) (replay.Answer, error) {
		w.postToken(t, "teams/"+team+"/authentication-token", config)
		return replay.Answer{ID: team}, nil
	}
	all.Play(t, "tfe_team_token", replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			if _, err := reading(token.Get(t.Context(), nil)); !errors.Is(err, replay.ErrGone) {
				t.Fatalf("before creation: got error %v, want none to be found", err)
			}
			return write(t, config)
		},
		Read:    func(t *testing.T, _ string) (replay.Answer, error) { return reading(token.Get(t.Context(), nil)) },
		Update:  func(t *testing.T, _ string, _, config replay.Fields) (replay.Answer, error) { return write(t, config) },
		Destroy: func(t *testing.T, _ string) error { return unlessGone(token.Delete(t.Context(), nil)) },
	},
		replay.Step{Name: "without anything", Config: replay.Fields{}},
		replay.Step{Name: "expired-at", Config: replay.Fields{"expired-at": inTwoDays()}},
		replay.Step{Name: "expired-at unset", Config: replay.Fields{}})
}

func replayDescribedTeamToken(t *testing.T, w world, all *replay.Replays) {
	team := *w.newTeam(t, "readers").GetId()
	one := w.client.API.AuthenticationTokens().ById
	all.Play(t, "tfe_team_token, described", replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			return replay.Answer{ID: w.postToken(t, "teams/"+team+"/authentication-tokens", config)}, nil
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) { return reading(one(id).Get(t.Context(), nil)) },
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by id": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
		},
		Destroy: func(t *testing.T, id string) error { return unlessGone(one(id).Delete(t.Context(), nil)) },
	}, replay.Step{Name: "description and expired-at", Config: replay.Fields{"description": "build", "expired-at": inTwoDays()}})
}

func replayOrganizationToken(t *testing.T, w world, all *replay.Replays) {
	token := w.in(w.client).AuthenticationToken()
	write := func(t *testing.T, config replay.Fields) (replay.Answer, error) {
		status, answer := w.server.Call(t, w.owner.Token, http.MethodPost, "organizations/"+w.organization+"/authentication-token",
			map[string]any{"data": map[string]any{"type": "", "attributes": config}})
		if status != http.StatusCreated {
			t.Fatalf("POST of an organization's token: %d %s", status, answer)
		}
		return replay.Answer{ID: w.organization}, nil
	}
	all.Play(t, "tfe_organization_token", replay.Resource{
		Create:  func(t *testing.T, config replay.Fields) (replay.Answer, error) { return write(t, config) },
		Read:    func(t *testing.T, _ string) (replay.Answer, error) { return reading(token.Get(t.Context(), nil)) },
		Update:  func(t *testing.T, _ string, _, config replay.Fields) (replay.Answer, error) { return write(t, config) },
		Destroy: func(t *testing.T, _ string) error { return unlessGone(token.Delete(t.Context(), nil)) },
	},
		replay.Step{Name: "without anything", Config: replay.Fields{}},
		replay.Step{Name: "expired-at", Config: replay.Fields{"expired-at": inTwoDays()}},
		replay.Step{Name: "expired-at unset", Config: replay.Fields{}})
}
