package v1

import (
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness/replay"
)

var flagNames = []string{
	"manage-policies", "manage-policy-overrides", "delegate-policy-overrides", "manage-workspaces", "manage-vcs-settings",
	"manage-providers", "manage-modules", "manage-run-tasks", "manage-projects", "read-workspaces", "read-projects",
	"manage-membership", "manage-teams", "manage-organization-access", "access-secret-teams", "manage-agent-pools",
}

// flags returns all sixteen flags, as the provider sends them once the block exists. Only the named ones are true.
func flags(on ...string) replay.Fields {
	all := replay.Fields{}
	for _, name := range flagNames {
		all[name] = slices.Contains(on, name)
	}
	return all
}

func replayTeam(t *testing.T, w world, all *replay.Replays) {
	team := replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			created, err := w.client.Teams.Create(t.Context(), w.organization, options[tfe.TeamCreateOptions](t, withoutEmpty(config, "sso-team-id")))
			if err != nil {
				return replay.Answer{}, err
			}
			return reading(created.ID, created, err)
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			shown, err := w.client.Teams.Read(t.Context(), id)
			return reading(id, shown, err)
		},
		Update: func(t *testing.T, id string, _, config replay.Fields) (replay.Answer, error) {
			updated, err := w.client.Teams.Update(t.Context(), id, options[tfe.TeamUpdateOptions](t, config))
			return reading(id, updated, err)
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by id": func(t *testing.T, id string, _ replay.Fields) (string, error) {
				shown, err := w.client.Teams.Read(t.Context(), id)
				must(t, err)
				return shown.ID, nil
			},
			"by name": func(t *testing.T, _ string, config replay.Fields) (string, error) {
				return w.teamIDByName(t, config["name"].(string)), nil
			},
		},
		Destroy: func(t *testing.T, id string) error { return unlessGone(w.client.Teams.Delete(t.Context(), id)) },
	}
	base := replay.Fields{"name": "readers", "allow-member-token-management": true, "sso-team-id": ""}
	steps := []replay.Step{
		{Name: "as configured with a name alone", Config: base},
		{Name: "another name", Config: base.With(replay.Fields{"name": "output-readers"})},
		{Name: "visibility", Config: base.With(replay.Fields{"visibility": "organization"})},
		{Name: "visibility, back", Config: base.With(replay.Fields{"visibility": "secret"})},
		{Name: "sso_team_id", Config: base.With(replay.Fields{"sso-team-id": "saml-readers"})},
		{Name: "sso_team_id unset", Config: base},
		{Name: "allow_member_token_management", Config: base.With(replay.Fields{"allow-member-token-management": false})},
		{Name: "allow_member_token_management, back", Config: base},
		{Name: "no flag", Config: base.With(replay.Fields{"organization-access": flags()})},
		{Name: "every flag", Config: base.With(replay.Fields{"organization-access": flags(flagNames...)})},
	}
	// Every pair of flags, including a flag with itself, each after a step without flags.
	for i, one := range flagNames {
		for _, other := range flagNames[i:] {
			config := base.With(replay.Fields{"organization-access": flags(one, other)})
			steps = append(steps,
				replay.Step{Name: "no flag", Config: base.With(replay.Fields{"organization-access": flags()})},
				replay.Step{Name: one + " and " + other, Config: config, MayRefuse: contradicted(one, other)})
		}
	}
	steps = append(steps, replay.Step{Name: "the block of flags unset", Config: base})
	all.Play(t, "tfe_team", team, steps...)

	full := base.With(replay.Fields{
		"name": "everything", "visibility": "organization", "sso-team-id": "saml-everything",
		"allow-member-token-management": false, "organization-access": flags("manage-membership", "read-workspaces"),
	})
	all.Play(t, "tfe_team", team, replay.Step{Name: "created with everything", Config: full}, replay.Step{Name: "most of it unset", Config: base})
}

// contradicted lists the flags that a refusal may name: set flags that imply another flag which is not set.
func contradicted(on ...string) []string {
	var names []string
	if slices.Contains(on, "manage-projects") && !slices.Contains(on, "manage-workspaces") {
		names = append(names, "manage-projects")
	}
	if slices.Contains(on, "read-projects") && !slices.Contains(on, "read-workspaces") {
		names = append(names, "read-projects")
	}
	return names
}

func replayTeamLists(t *testing.T, w world, all *replay.Replays) {
	want := replay.Fields{"owners": w.teamIDByName(t, "owners")}
	for _, name := range []string{"readers", "writers"} {
		want[name] = w.newTeam(t, name).ID
	}
	for name, id := range want {
		all.Compare(t, "data tfe_team, tfe_teams", replay.Fields{"id": id}, replay.Fields{"id": w.teamIDByName(t, name)})
	}
	got := replay.Fields{}
	query := &tfe.TeamListOptions{ListOptions: tfe.ListOptions{PageSize: 2}}
	for {
		page, err := w.client.Teams.List(t.Context(), w.organization, query)
		must(t, err)
		for _, team := range page.Items {
			got[team.Name] = team.ID
		}
		if page.CurrentPage >= page.TotalPages {
			break
		}
		query.PageNumber = page.NextPage
	}
	all.Compare(t, "data tfe_team, tfe_teams", want, got)
	wantEqual(t, "number of teams", len(got), len(want))
}

func (w world) teamIDByName(t *testing.T, name string) string {
	t.Helper()
	found, err := w.client.Teams.List(t.Context(), w.organization, &tfe.TeamListOptions{Names: []string{name}})
	must(t, err)
	wantEqual(t, "teams with the name "+name, len(found.Items), 1)
	return found.Items[0].ID
}

// withoutEmpty removes attributes that the provider sends only with a value.
func withoutEmpty(config replay.Fields, names ...string) replay.Fields {
	sent := maps.Clone(config)
	for _, name := range names {
		if sent[name] == "" || sent[name] == nil {
			delete(sent, name)
		}
	}
	return sent
}
