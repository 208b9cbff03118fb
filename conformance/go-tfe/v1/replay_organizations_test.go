package v1

import (
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness"
	"purser.example/conformance/harness/replay"
)

// organizationResource creates with one client and does everything else with the client that followedBy returns.
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
		// The provider creates with two attributes and sends all attributes in an update directly afterwards.
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
			// The team's token has been deleted with the team.
			client = creator
			return unlessGone(err)
		},
		Changing: []string{"updated-at"},
	}
}

func replayOrganization(t *testing.T, w world, all *replay.Replays) {
	resource := organizationResource(w.client, func(*testing.T, string) *tfe.Client { return w.client })
	// The provider's defaults, without the attributes that it computes.
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
	// A change that shuts out user tokens can only be applied, and read again, with a team token.
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
