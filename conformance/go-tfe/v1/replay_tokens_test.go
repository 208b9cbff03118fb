package v1

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness"
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

// organizationResource creates with one client and does the rest with what that one is followed by.
func organizationResource(creator *tfe.Client, followedBy func(t *testing.T, name string) *tfe.Client) replay.Resource {
	client := creator
	// The library takes the name from the id.
	shownBy := func(organization *tfe.Organization, err error) (replay.Answer, error) {
		if err != nil {
			return replay.Answer{}, gone(err)
		}
		read := answer(organization.Name, organization)
		read.Fields["name"] = organization.Name
		return read, nil
	}
	update := func(t *testing.T, id string, config replay.Fields) (replay.Answer, error) {
		return shownBy(client.Organizations.Update(t.Context(), id, options[tfe.OrganizationUpdateOptions](t, config)))
	}
	return replay.Resource{
		// The provider creates with two attributes, and sends all of them right after.
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			created, err := creator.Organizations.Create(t.Context(), options[tfe.OrganizationCreateOptions](t,
				replay.Fields{"name": config["name"], "email": config["email"]}))
			if err != nil {
				return replay.Answer{}, err
			}
			client = followedBy(t, created.Name)
			return update(t, created.Name, config)
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			return shownBy(client.Organizations.Read(t.Context(), id))
		},
		Update: func(t *testing.T, id string, _, config replay.Fields) (replay.Answer, error) {
			return update(t, id, config)
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by name": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
			"from the list of tfe_organizations": func(t *testing.T, id string, _ replay.Fields) (string, error) {
				listed, err := client.Organizations.List(t.Context(), &tfe.OrganizationListOptions{ListOptions: tfe.ListOptions{PageSize: 100}})
				must(t, err)
				for _, organization := range listed.Items {
					if organization.Name == id {
						return id, nil
					}
				}
				return "", tfe.ErrResourceNotFound
			},
		},
		Destroy: func(t *testing.T, id string) error {
			err := client.Organizations.Delete(t.Context(), id)
			// A team's token goes with the team.
			client = creator
			return unlessGone(err)
		},
		Changing: []string{"updated-at"},
	}
}

func replayOrganization(t *testing.T, w world, all *replay.Replays) {
	resource := organizationResource(w.client, func(*testing.T, string) *tfe.Client { return w.client })
	// The provider's defaults; attributes that it computes are absent.
	base := replay.Fields{
		"name": harness.Unique("replayed"), "email": w.owner.Email, "speculative-plan-management-enabled": true,
		"user-tokens-enabled": true, "enforce-hyok": false, "max-ttl-enabled": false,
		"allow-force-delete-workspaces": false,
	}
	with := func(name string, value any) replay.Step {
		return replay.Step{Name: name, Config: base.With(replay.Fields{name: value})}
	}
	refused := func(name string, value any) replay.Step {
		return replay.Step{Name: name + " refused", Config: base.With(replay.Fields{name: value}), Refused: name}
	}
	all.Play(t, "tfe_organization", resource,
		replay.Step{Name: "as configured with name and email", Config: base},
		with("email", "office@example.com"),
		with("session-timeout", 60),
		with("session-remember", 120),
		with("collaborator-auth-policy", "password"),
		refused("collaborator-auth-policy", "two_factor_mandatory"),
		with("owners-team-saml-role-id", "saml-owners"),
		with("cost-estimation-enabled", true),
		with("cost-estimation-enabled", false),
		with("send-passing-statuses-for-untriggered-speculative-plans", true),
		with("send-passing-statuses-for-untriggered-speculative-plans", false),
		with("aggregated-commit-status-enabled", false),
		with("aggregated-commit-status-enabled", true),
		with("assessments-enforced", true),
		with("assessments-enforced", false),
		with("allow-force-delete-workspaces", true),
		with("allow-force-delete-workspaces", false),
		with("speculative-plan-management-enabled", false),
		with("stacks-enabled", true),
		with("stacks-enabled", false),
		refused("enforce-hyok", true),
		with("max-ttl-enabled", true),
		with("max-ttl-enabled", false),
		with("default-execution-mode", "remote"),
		with("default-execution-mode", "local"),
		replay.Step{Name: "all of it unset", Config: base},
	)
	// What shuts out users' tokens can only be applied, and read again, with the token of a team.
	ofOwners := organizationResource(w.client, func(t *testing.T, name string) *tfe.Client {
		inNew := w
		inNew.organization = name
		token, err := w.client.TeamTokens.Create(t.Context(), inNew.teamIDByName(t, "owners"))
		must(t, err)
		return newClient(t, w.server, token.Token)
	})
	all.Play(t, "tfe_organization", ofOwners,
		replay.Step{Name: "as configured with name and email", Config: base},
		with("user-tokens-enabled", false),
		with("user-tokens-enabled", true))
}
