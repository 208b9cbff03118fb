package v2

import (
	"slices"
	"testing"

	"github.com/hashicorp/go-tfe/v2/api/models"
	"github.com/hashicorp/go-tfe/v2/api/organizations"
	"github.com/hashicorp/go-tfe/v2/api/teams"
	"github.com/hashicorp/go-tfe/v2/api/teams/item"

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

// asKept is how the provider keeps what is absent: no SSO id as "", a flag that the server does not know as false.
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

// usernames reads the members as the provider does: the team with its users. This release of the library loses the names
// in what is included, so they are asked for one by one.
func (w world) usernames(t *testing.T, teamID string) ([]string, error) {
	t.Helper()
	shown, err := w.client.API.Teams().ById(teamID).Get(t.Context(), with(teams.ItemRequestBuilderGetQueryParameters{
		Include: new(item.USERS_GETINCLUDEQUERYPARAMETERTYPE),
	}))
	if err != nil {
		return nil, gone(err)
	}
	names := []string{}
	for _, user := range shown.GetData().GetRelationships().GetUsers().GetData() {
		found, err := w.client.API.Users().ByUser_id(*user.GetId()).Get(t.Context(), nil)
		must(t, err)
		names = append(names, *found.GetData().GetAttributes().GetUsername())
	}
	wantEqual(t, "number of included users", len(shown.GetIncluded()), len(names))
	return sorted(names...), nil
}

// membershipIDs reads the members as the provider does from 0.80 on: all pages of their memberships.
func (w world) membershipIDs(t *testing.T, teamID string) ([]string, error) {
	t.Helper()
	ids := []string{}
	query := teams.ItemRelationshipsOrganizationMembershipsRequestBuilderGetQueryParameters{Pagesize: new(int32(100))}
	for {
		page, err := w.client.API.Teams().ById(teamID).Relationships().OrganizationMemberships().Get(t.Context(), with(query))
		if err != nil {
			return nil, gone(err)
		}
		for _, membership := range page.GetData() {
			ids = append(ids, *membership.GetId())
		}
		query.Pagenumber = page.GetMeta().GetPagination().GetNextPage()
		if query.Pagenumber == nil {
			return sorted(ids...), nil
		}
	}
}

// setOfMembers is a resource that holds people, by what they are called in the test; with nobody left it is forgotten.
func setOfMembers(teamID string, called map[string]string, read func(*testing.T, string) ([]string, error), add, remove func(*testing.T, []string) error) replay.Resource {
	named := func(config replay.Fields) []string {
		var names []string
		for role := range config {
			names = append(names, called[role])
		}
		return sorted(names...)
	}
	minus := func(names, others []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
	}
	return replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			return replay.Answer{ID: teamID}, add(t, named(config))
		},
		Read: func(t *testing.T, id string) (replay.Answer, error) {
			names, err := read(t, id)
			if err != nil {
				return replay.Answer{}, err
			}
			inTeam := replay.Fields{}
			for role, name := range called {
				if slices.Contains(names, name) {
					inTeam[role] = true
				}
			}
			if len(inTeam) == 0 {
				return replay.Answer{}, replay.ErrGone
			}
			return replay.Answer{ID: id, Fields: inTeam}, nil
		},
		Update: func(t *testing.T, id string, prior, config replay.Fields) (replay.Answer, error) {
			before, after := named(prior), named(config)
			if added := minus(after, before); len(added) > 0 {
				must(t, add(t, added))
			}
			if removed := minus(before, after); len(removed) > 0 {
				must(t, remove(t, removed))
			}
			return replay.Answer{ID: id}, nil
		},
		Destroy: func(t *testing.T, id string) error {
			names, err := read(t, id)
			must(t, err)
			return remove(t, minus(named(allOf(called)), minus(named(allOf(called)), names)))
		},
	}
}

func allOf(called map[string]string) replay.Fields {
	everybody := replay.Fields{}
	for role := range called {
		everybody[role] = true
	}
	return everybody
}

func (w world) byUserName(teamID string, called map[string]string) replay.Resource {
	builder := w.client.API.Teams().ById(teamID).Relationships().Users()
	users := func(t *testing.T, names []string) models.UsersIdentifierArrayDocumentable {
		return body[models.UsersIdentifierArrayDocumentable](t, models.CreateUsersIdentifierArrayDocumentFromDiscriminatorValue, toAll("users", names))
	}
	return setOfMembers(teamID, called, w.usernames,
		func(t *testing.T, names []string) error { return builder.Post(t.Context(), users(t, names), nil) },
		func(t *testing.T, names []string) error { return builder.Delete(t.Context(), users(t, names), nil) })
}

func (w world) byMembership(teamID string, called map[string]string) replay.Resource {
	builder := w.client.API.Teams().ById(teamID).Relationships().OrganizationMemberships()
	memberships := func(t *testing.T, ids []string) models.OrganizationMembershipsIdentifierArrayDocumentable {
		return body[models.OrganizationMembershipsIdentifierArrayDocumentable](t,
			models.CreateOrganizationMembershipsIdentifierArrayDocumentFromDiscriminatorValue, toAll("organization-memberships", ids))
	}
	return setOfMembers(teamID, called, w.membershipIDs,
		func(t *testing.T, ids []string) error { return builder.Post(t.Context(), memberships(t, ids), nil) },
		func(t *testing.T, ids []string) error { return builder.Delete(t.Context(), memberships(t, ids), nil) })
}

func replayTeamMember(t *testing.T, w world, all *replay.Replays) {
	anna, _ := w.newMember(t, "anna")
	ben, _ := w.newMember(t, "ben")
	team := *w.newTeamOf(t, "readers", ben).GetId()
	all.Play(t, "tfe_team_member", w.byUserName(team, map[string]string{"anna": anna.Username}),
		replay.Step{Name: "one member", Config: replay.Fields{"anna": true}})
	left, err := w.usernames(t, team)
	must(t, err)
	wantEqual(t, "who is left", left, []string{ben.Username})
}

func replayTeamMembers(t *testing.T, w world, all *replay.Replays) {
	anna, _ := w.newMember(t, "anna")
	ben, _ := w.newMember(t, "ben")
	all.Play(t, "tfe_team_members",
		w.byUserName(*w.newTeam(t, "readers").GetId(), map[string]string{"anna": anna.Username, "ben": ben.Username}),
		replay.Step{Name: "one member", Config: replay.Fields{"anna": true}},
		replay.Step{Name: "one more", Config: replay.Fields{"anna": true, "ben": true}},
		replay.Step{Name: "another instead", Config: replay.Fields{"ben": true}})
}

func replayTeamOrganizationMember(t *testing.T, w world, all *replay.Replays) {
	for role, membership := range map[string]string{"active": w.join(t), "invited": w.invite(t)} {
		all.Play(t, "tfe_team_organization_member",
			w.byMembership(*w.newTeam(t, "with-"+role).GetId(), map[string]string{role: membership}),
			replay.Step{Name: "one member", Config: replay.Fields{role: true}})
	}
}

func replayTeamOrganizationMembers(t *testing.T, w world, all *replay.Replays) {
	team := *w.newTeam(t, "readers").GetId()
	w.server.Create(t, w.owner.Token, "teams/"+team+"/authentication-token", "authentication-tokens", nil)
	all.Play(t, "tfe_team_organization_members",
		w.byMembership(team, map[string]string{"anna": w.join(t), "ben": w.join(t), "invited": w.invite(t)}),
		replay.Step{Name: "one member", Config: replay.Fields{"anna": true}},
		replay.Step{Name: "an invited one too", Config: replay.Fields{"anna": true, "invited": true}},
		replay.Step{Name: "another instead", Config: replay.Fields{"ben": true}})
	// The service account of the token is left; the provider tells it by its user.
	left, err := w.membershipIDs(t, team)
	must(t, err)
	wantEqual(t, "memberships that are left", len(left), 1)
	shown, err := w.client.API.OrganizationMemberships().ByOrganization_membership_id(left[0]).Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "has a user", shown.GetData().GetRelationships().GetUser().GetData().GetId() != nil, true)
}

// join gives the membership of a new member, invite that of somebody who has not accepted.
func (w world) join(t *testing.T) string {
	t.Helper()
	return w.server.Join(t, w.organization, w.owner, w.server.NewUser(t, "member"))
}

func (w world) invite(t *testing.T) string {
	t.Helper()
	return w.server.Create(t, w.owner.Token, "organizations/"+w.organization+"/organization-memberships", "organization-memberships",
		map[string]any{"email": w.server.NewUser(t, "invited").Email}).ID
}
