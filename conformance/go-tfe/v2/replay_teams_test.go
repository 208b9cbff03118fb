package v2

import (
	"slices"
	"testing"

	"github.com/hashicorp/go-tfe/v2/api/models"
	"github.com/hashicorp/go-tfe/v2/api/organizations"

	"purser.example/conformance/harness/replay"
)

var flagNames = []string{
	"manage-policies", "manage-policy-overrides", "delegate-policy-overrides", "manage-workspaces", "manage-vcs-settings",
	"manage-providers", "manage-modules", "manage-run-tasks", "manage-projects", "read-workspaces", "read-projects",
	"manage-membership", "manage-teams", "manage-organization-access", "access-secret-teams", "manage-agent-pools",
}

func flags(on ...string) replay.Fields {
	all := replay.Fields{}
	for _, name := range flagNames {
		all[name] = slices.Contains(on, name)
	}
	return all
}

// asKept returns what the provider stores for absent values: "" for no SSO id, false for a flag unknown to the server.
func asKept(answer replay.Answer, err error) (replay.Answer, error) {
	if err != nil {
		return answer, err
	}
	access := flags()
	for name, value := range answer.Fields["organization-access"].(map[string]any) {
		if value != nil {
			access[name] = value
		}
	}
	answer.Fields = answer.Fields.With(replay.Fields{"organization-access": access})
	if answer.Fields["sso-team-id"] == nil {
		answer.Fields["sso-team-id"] = ""
	}
	return answer, err
}

func replayTeam(t *testing.T, w world, all *replay.Replays) {
	team := func(config replay.Fields) models.TeamsEnvelopeable {
		return resourceBody[models.TeamsEnvelopeable](t, models.CreateTeamsEnvelopeFromDiscriminatorValue, "teams", config, nil)
	}
	resource := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			if config["sso-team-id"] == "" {
				config = config.Without("sso-team-id")
			}
			return asKept(reading(w.in(w.client).Teams().Post(t.Context(), team(config), nil)))
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			return asKept(reading(w.client.API.Teams().ById(id).Get(t.Context(), nil)))
		},
		Update: func(t *testing.T, id string, _, config replay.Fields) (replay.Answer, error) {
			return asKept(reading(w.client.API.Teams().ById(id).Patch(t.Context(), team(config), nil)))
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by id": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
			"by name": func(t *testing.T, _ string, config replay.Fields) (string, error) {
				return w.teamIDByName(t, config["name"].(string)), nil
			},
		},
		Destroy: func(t *testing.T, id string) error {
			return unlessGone(w.client.API.Teams().ById(id).Delete(t.Context(), nil))
		},
	}
	base := replay.Fields{"name": "readers", "allow-member-token-management": true, "sso-team-id": ""}
	with := func(name string, value any) replay.Step {
		return replay.Step{Name: name, Config: base.With(replay.Fields{name: value})}
	}
	steps := []replay.Step{
		{Name: "as configured with a name alone", Config: base},
		with("name", "output-readers"), with("visibility", "organization"), with("visibility", "secret"),
		with("sso-team-id", "saml-readers"), {Name: "sso-team-id unset", Config: base},
		with("allow-member-token-management", false), with("allow-member-token-management", true),
		with("organization-access", flags()), with("organization-access", flags(flagNames...)),
	}
	for _, flag := range flagNames {
		step := with("organization-access", flags(flag))
		if flag == "manage-projects" || flag == "read-projects" {
			step.Refused = flag
		}
		steps = append(steps, with("organization-access", flags()), step)
	}
	all.Play(t, "tfe_team", resource, append(steps, replay.Step{Name: "the block of flags unset", Config: base})...)
	all.Play(t, "tfe_team", resource, replay.Step{Name: "created with everything", Config: replay.Fields{
		"name": "everything", "visibility": "organization", "sso-team-id": "saml-everything",
		"allow-member-token-management": false, "organization-access": flags("manage-membership", "read-workspaces"),
	}})
}

func (w world) teamIDByName(t *testing.T, name string) string {
	t.Helper()
	found, err := w.in(w.client).Teams().Get(t.Context(), with(organizations.ItemTeamsRequestBuilderGetQueryParameters{Filternames: new(name)}))
	must(t, err)
	wantEqual(t, "teams with the name "+name, len(found.GetData()), 1)
	return *found.GetData()[0].GetId()
}

func replayTeamLists(t *testing.T, w world, all *replay.Replays) {
	for _, name := range []string{"readers", "writers"} {
		id := *w.newTeam(t, name).GetId()
		all.Compare(t, "data tfe_team, tfe_teams", replay.Fields{"id": id}, replay.Fields{"id": w.teamIDByName(t, name)})
	}
	names := eachPage(t, w.in(w.client).Teams(), organizations.ItemTeamsRequestBuilderGetQueryParameters{Pagesize: new(int32(2))})
	all.Compare(t, "data tfe_team, tfe_teams", replay.Fields{"names": []string{"owners", "readers", "writers"}}, replay.Fields{"names": names})
}
