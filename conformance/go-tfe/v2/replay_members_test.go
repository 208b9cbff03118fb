package v2

import (
	"slices"
	"testing"

	"github.com/hashicorp/go-tfe/v2/api/models"
	"github.com/hashicorp/go-tfe/v2/api/teams"
	"github.com/hashicorp/go-tfe/v2/api/teams/item"

	"purser.example/conformance/harness/replay"
)

// usernames reads the members like the provider: the team with its users. This release of the library loses the names
// of included users, so each is requested separately.
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

// membershipIDs reads the members like the provider from 0.80 on: all pages of their memberships.
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

// setOfMembers is a resource that holds people, by their names in the test. The provider forgets it when it is empty.
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
	// The service account of the token is left. The provider recognizes it by its user.
	left, err := w.membershipIDs(t, team)
	must(t, err)
	wantEqual(t, "memberships that are left", len(left), 1)
	shown, err := w.client.API.OrganizationMemberships().ByOrganization_membership_id(left[0]).Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "has a user", shown.GetData().GetRelationships().GetUser().GetData().GetId() != nil, true)
}

// join returns the membership of a new member, and invite that of a user who has not accepted.
func (w world) join(t *testing.T) string {
	t.Helper()
	return w.server.Join(t, w.organization, w.owner, w.server.NewUser(t, "member"))
}

func (w world) invite(t *testing.T) string {
	t.Helper()
	return w.server.Create(t, w.owner.Token, "organizations/"+w.organization+"/organization-memberships", "organization-memberships",
		map[string]any{"email": w.server.NewUser(t, "invited").Email}).ID
}
