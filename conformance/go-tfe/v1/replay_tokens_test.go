package v1

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness/replay"
)

// A token's text is shown only once. Reading one token with another changes when the latter was last used.
var changingOfTokens = []string{"token", "last-used-at"}

func inTwoDays() string {
	return time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
}

func replayTeamToken(t *testing.T, w world, all *replay.Replays) {
	team := w.newTeam(t, "readers")
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			// The provider refuses to replace an existing token.
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
		// An update with force_regenerate.
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

// The ephemeral resource creates a token with a description. When it is closed, it asks to delete the token of a team
// with the token's id. It accepts "not found" as success, so the token must be gone.
func replayEphemeralTeamToken(t *testing.T, w world, all *replay.Replays) {
	team := w.newTeam(t, "readers")
	expiry := inTwoDays()
	created, err := w.client.TeamTokens.CreateWithOptions(t.Context(), team.ID,
		options[tfe.TeamTokenCreateOptions](t, replay.Fields{"description": "run", "expired-at": expiry}))
	must(t, err)
	all.Compare(t, "tfe_team_token, ephemeral", replay.Fields{"description": "run", "expired-at": expiry}, answer(created.ID, created).Fields)
	wantTeamSeenBy(t, w, created.Token, team)
	must(t, w.client.TeamTokens.Delete(t.Context(), created.ID))
	_, err = w.client.TeamTokens.ReadByID(t.Context(), created.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func replayOrganizationToken(t *testing.T, w world, all *replay.Replays) {
	playOrganizationToken(t, w, all, "tfe_organization_token", nil)
}

func replayAuditTrailToken(t *testing.T, w world, all *replay.Replays) {
	kind := tfe.AuditTrailToken
	playOrganizationToken(t, w, all, "tfe_audit_trail_token", &kind)
}

func playOrganizationToken(t *testing.T, w world, all *replay.Replays, name string, kind *tfe.TokenType) {
	read := func(t *testing.T, id string) (replay.Answer, error) {
		shown, err := w.client.OrganizationTokens.ReadWithOptions(t.Context(), id, tfe.OrganizationTokenReadOptions{TokenType: kind})
		return reading(id, shown, err)
	}
	write := func(t *testing.T, id string, config replay.Fields) (replay.Answer, error) {
		wanted := options[tfe.OrganizationTokenCreateOptions](t, config)
		wanted.TokenType = kind
		created, err := w.client.OrganizationTokens.CreateWithOptions(t.Context(), id, wanted)
		return reading(id, created, err)
	}
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			if _, err := read(t, w.organization); !errors.Is(err, replay.ErrGone) {
				t.Fatalf("before creation: got error %v, want none to be found", err)
			}
			return write(t, w.organization, config)
		},
		Read: read,
		Update: func(t *testing.T, id string, _, config replay.Fields) (replay.Answer, error) {
			return write(t, id, config)
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by the organization's name": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
		},
		Destroy: func(t *testing.T, id string) error {
			return unlessGone(w.client.OrganizationTokens.DeleteWithOptions(t.Context(), id, tfe.OrganizationTokenDeleteOptions{TokenType: kind}))
		},
		Changing: changingOfTokens,
	}
	all.Play(t, name, resource,
		replay.Step{Name: "without anything", Config: replay.Fields{}},
		replay.Step{Name: "expired_at", Config: replay.Fields{"expired-at": inTwoDays()}},
		replay.Step{Name: "expired_at unset", Config: replay.Fields{}},
	)
}

// The policies exist as long as their organization. Destroying them resets each kind to two years.
func replayTokenTTLPolicy(t *testing.T, w world, all *replay.Replays) {
	const twoYears = 63_072_000_000
	kinds := []tfe.TokenType{tfe.TokenTypeOrganization, tfe.TokenTypeTeam, tfe.TokenTypeUser, tfe.TokenTypeAuditTrails}
	policies := func(shown []*tfe.OrganizationTokenTTLPolicy, err error) (replay.Answer, error) {
		if err != nil {
			return replay.Answer{}, gone(err)
		}
		fields := replay.Fields{}
		for _, policy := range shown {
			fields[string(policy.TokenType)] = policy.MaxTTLMs
		}
		return replay.Answer{ID: w.organization, Fields: fields, Whole: fields}, nil
	}
	write := func(t *testing.T, config replay.Fields) (replay.Answer, error) {
		var wanted []tfe.OrganizationTokenTTLPolicyUpdateItem
		for _, kind := range kinds {
			wanted = append(wanted, tfe.OrganizationTokenTTLPolicyUpdateItem{TokenType: kind, MaxTTLMs: config[string(kind)].(int64)})
		}
		return policies(w.client.OrganizationTokenTTLPolicies.Update(t.Context(), w.organization,
			tfe.OrganizationTokenTTLPolicyUpdateOptions{Policies: wanted}))
	}
	unset := replay.Fields{}
	for _, kind := range kinds {
		unset[string(kind)] = int64(twoYears)
	}
	all.Play(t, "tfe_org_max_token_ttl_policy", replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) { return write(t, config) },
		Read: func(t *testing.T, _ string) (replay.Answer, error) {
			listed, err := w.client.OrganizationTokenTTLPolicies.List(t.Context(), w.organization, nil)
			must(t, err)
			shown, err := policies(listed.Items, nil)
			if reflect.DeepEqual(shown.Fields, unset) {
				return replay.Answer{}, replay.ErrGone
			}
			return shown, err
		},
		Update: func(t *testing.T, _ string, _, config replay.Fields) (replay.Answer, error) { return write(t, config) },
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by the organization's name": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
		},
		Destroy: func(t *testing.T, _ string) error { return second(write(t, unset)) },
	},
		replay.Step{Name: "each kind", Config: replay.Fields{
			"organization": int64(1_800_000), "team": int64(1_814_400_000), "user": int64(78_840_000_000), "audit_trails": int64(15_552_000_000),
		}},
		replay.Step{Name: "one kind", Config: unset.With(replay.Fields{"team": int64(86_400_000)})},
		replay.Step{Name: "none at all", Config: unset.With(replay.Fields{"user": int64(0)}), Refused: "max-ttl-ms"})
}
