package v1

import (
	"slices"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness/replay"
)

// members has the functions with which the provider adds, removes and reads the members of a team.
type members struct {
	add, remove func(t *testing.T, names []string) error
	read        func(t *testing.T) ([]string, error)
}

// resource is a set of members. `called` maps the test's names to user names or membership ids. The provider forgets
// the resource when the set is empty.
func (m members) resource(teamID string, called map[string]string) replay.Resource {
	named := func(config replay.Fields) []string {
		var names []string
		for role := range config {
			names = append(names, called[role])
		}
		return sorted(names...)
	}
	read := func(t *testing.T, id string) (replay.Answer, error) {
		names, err := m.read(t)
		if err != nil {
			return replay.Answer{}, gone(err)
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
	}
	return replay.Resource{
		Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
			return replay.Answer{ID: teamID}, m.add(t, named(config))
		},
		Read: read,
		Update: func(t *testing.T, id string, prior, config replay.Fields) (replay.Answer, error) {
			before, after := named(prior), named(config)
			if added := minus(after, before); len(added) > 0 {
				must(t, m.add(t, added))
			}
			if removed := minus(before, after); len(removed) > 0 {
				must(t, m.remove(t, removed))
			}
			return replay.Answer{ID: id}, nil
		},
		Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
			"by id": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
		},
		Destroy: func(t *testing.T, _ string) error {
			names, err := m.read(t)
			must(t, err)
			return m.remove(t, names)
		},
	}
}

func minus(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

func (w world) membersByUserName(team *tfe.Team) members {
	return members{
		add: func(t *testing.T, names []string) error {
			return w.client.TeamMembers.Add(t.Context(), team.ID, tfe.TeamMemberAddOptions{Usernames: names})
		},
		remove: func(t *testing.T, names []string) error {
			return w.client.TeamMembers.Remove(t.Context(), team.ID, tfe.TeamMemberRemoveOptions{Usernames: names})
		},
		read: func(t *testing.T) ([]string, error) {
			users, err := w.client.TeamMembers.List(t.Context(), team.ID)
			if err != nil {
				return nil, err
			}
			var names []string
			for _, user := range users {
				names = append(names, user.Username)
			}
			return names, nil
		},
	}
}

// membersByMembership reads whole memberships, too, if it has to leave out service accounts.
func (w world) membersByMembership(team *tfe.Team, leaveOutServiceAccounts bool) members {
	return members{
		add: func(t *testing.T, ids []string) error {
			return w.client.TeamMembers.Add(t.Context(), team.ID, tfe.TeamMemberAddOptions{OrganizationMembershipIDs: ids})
		},
		remove: func(t *testing.T, ids []string) error {
			return w.client.TeamMembers.Remove(t.Context(), team.ID, tfe.TeamMemberRemoveOptions{OrganizationMembershipIDs: ids})
		},
		read: func(t *testing.T) ([]string, error) {
			memberships, err := w.client.TeamMembers.ListOrganizationMemberships(t.Context(), team.ID)
			if err != nil {
				return nil, err
			}
			var ids []string
			for _, membership := range memberships {
				if leaveOutServiceAccounts {
					whole, err := w.client.OrganizationMemberships.ReadWithOptions(t.Context(), membership.ID,
						tfe.OrganizationMembershipReadOptions{Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser}})
					must(t, err)
					if whole.User.IsServiceAccount {
						continue
					}
				}
				ids = append(ids, membership.ID)
			}
			return ids, nil
		},
	}
}

func replayTeamMember(t *testing.T, w world, all *replay.Replays) {
	anna, ben := w.newMember(t, "anna"), w.newMember(t, "ben")
	team := w.newTeamOf(t, "readers", ben)
	// Another member of the team must not affect this resource.
	resource := w.membersByUserName(team).resource(team.ID+"/"+anna.Username, map[string]string{"anna": anna.Username})
	resource.Update = nil
	resource.Destroy = func(t *testing.T, _ string) error {
		return w.client.TeamMembers.Remove(t.Context(), team.ID, tfe.TeamMemberRemoveOptions{Usernames: []string{anna.Username}})
	}
	all.Play(t, "tfe_team_member", resource, replay.Step{Name: "one member", Config: replay.Fields{"anna": true}})
	wantEqual(t, "who is left", w.usernames(t, team), []string{ben.Username})
}

func replayTeamMembers(t *testing.T, w world, all *replay.Replays) {
	anna, ben := w.newMember(t, "anna"), w.newMember(t, "ben")
	team := w.newTeam(t, "readers")
	resource := w.membersByUserName(team).resource(team.ID, map[string]string{"anna": anna.Username, "ben": ben.Username})
	all.Play(t, "tfe_team_members", resource,
		replay.Step{Name: "one member", Config: replay.Fields{"anna": true}},
		replay.Step{Name: "one more", Config: replay.Fields{"anna": true, "ben": true}},
		replay.Step{Name: "one less", Config: replay.Fields{"ben": true}},
		replay.Step{Name: "another instead", Config: replay.Fields{"anna": true}},
	)
}

func replayTeamOrganizationMember(t *testing.T, w world, all *replay.Replays) {
	anna := w.newMember(t, "anna")
	for role, membershipID := range map[string]string{"active": anna.membershipID, "invited": w.invite(t)} {
		team := w.newTeam(t, "with-"+role)
		plain := w.membersByMembership(team, false)
		resource := plain.resource(team.ID+"/"+membershipID, map[string]string{role: membershipID})
		resource.Update = nil
		resource.Destroy = func(t *testing.T, _ string) error { return plain.remove(t, []string{membershipID}) }
		resource.Imports["by name"] = func(t *testing.T, id string, _ replay.Fields) (string, error) {
			if role == "invited" {
				return id, nil
			}
			return w.teamIDByName(t, team.Name) + "/" + w.membershipIDByEmail(t, anna.Email), nil
		}
		all.Play(t, "tfe_team_organization_member", forgiving(resource), replay.Step{Name: "one member", Config: replay.Fields{role: true}})
	}
}

func replayTeamOrganizationMembers(t *testing.T, w world, all *replay.Replays) {
	anna, ben := w.newMember(t, "anna"), w.newMember(t, "ben")
	team := w.newTeam(t, "readers")
	// A token comes with a service account, which the provider leaves out.
	_, err := w.client.TeamTokens.Create(t.Context(), team.ID)
	must(t, err)
	resource := w.membersByMembership(team, true).resource(team.ID, map[string]string{
		"anna": anna.membershipID, "ben": ben.membershipID, "invited": w.invite(t),
	})
	all.Play(t, "tfe_team_organization_members", resource,
		replay.Step{Name: "one member", Config: replay.Fields{"anna": true}},
		replay.Step{Name: "an invited one too", Config: replay.Fields{"anna": true, "invited": true}},
		replay.Step{Name: "another instead", Config: replay.Fields{"anna": true, "ben": true}},
		replay.Step{Name: "one less", Config: replay.Fields{"ben": true}},
	)
}

// forgiving reads a missing resource as one without members, so that the difference is one of attributes. After
// Destroy, a missing resource is gone.
func forgiving(resource replay.Resource) replay.Resource {
	read, destroy, destroyed := resource.Read, resource.Destroy, false
	resource.Destroy = func(t *testing.T, id string) error {
		destroyed = true
		return destroy(t, id)
	}
	resource.Read = func(t *testing.T, id string) (replay.Answer, error) {
		answer, err := read(t, id)
		if err == replay.ErrGone && !destroyed {
			return replay.Answer{ID: id, Fields: replay.Fields{}}, nil
		}
		return answer, err
	}
	return resource
}

func replayOrganizationMembership(t *testing.T, w world, all *replay.Replays) {
	include := tfe.OrganizationMembershipReadOptions{Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser}}
	guest := w.server.NewUser(t, "guest")
	stranger := "stranger-" + guest.Email
	for _, email := range []string{guest.Email, stranger} {
		all.Play(t, "tfe_organization_membership", replay.Resource{
			Create: func(t *testing.T, config replay.Fields) (replay.Answer, error) {
				created, err := w.client.OrganizationMemberships.Create(t.Context(), w.organization, options[tfe.OrganizationMembershipCreateOptions](t, config))
				if err != nil {
					return replay.Answer{}, err
				}
				return reading(created.ID, created, err)
			},
			Read: func(t *testing.T, id string) (replay.Answer, error) {
				shown, err := w.client.OrganizationMemberships.ReadWithOptions(t.Context(), id, include)
				if err == nil {
					wantEqual(t, "organization", shown.Organization.Name, w.organization)
				}
				return reading(id, shown, err)
			},
			Imports: map[string]func(*testing.T, string, replay.Fields) (string, error){
				"by id": func(_ *testing.T, id string, _ replay.Fields) (string, error) { return id, nil },
				"by email": func(t *testing.T, _ string, _ replay.Fields) (string, error) {
					return w.membershipIDByEmail(t, email), nil
				},
			},
			Destroy: func(t *testing.T, id string) error {
				return unlessGone(w.client.OrganizationMemberships.Delete(t.Context(), id))
			},
		}, replay.Step{Name: "invited", Config: replay.Fields{"email": email}})
	}
	// The data source finds an active member by user name.
	anna := w.newMember(t, "anna")
	found, err := w.client.OrganizationMemberships.List(t.Context(), w.organization, &tfe.OrganizationMembershipListOptions{
		Query: anna.Username, Include: include.Include,
	})
	must(t, err)
	wantEqual(t, "number found by user name", len(found.Items), 1)
	wantEqual(t, "user found by user name", found.Items[0].User.Username, anna.Username)
}

func replayOrganizationMembers(t *testing.T, w world, all *replay.Replays) {
	anna, invited := w.newMember(t, "anna"), w.invite(t)
	got := replay.Fields{"active": []string{}, "invited": []string{}}
	query := &tfe.OrganizationMembershipListOptions{ListOptions: tfe.ListOptions{PageSize: 2}}
	for {
		page, err := w.client.OrganizationMemberships.List(t.Context(), w.organization, query)
		must(t, err)
		for _, membership := range page.Items {
			status := string(membership.Status)
			got[status] = append(got[status].([]string), membership.ID)
			wantEqual(t, "has a user", membership.User != nil && membership.User.ID != "", true)
		}
		if page.CurrentPage >= page.TotalPages {
			break
		}
		query.PageNumber = page.NextPage
	}
	owner := w.membershipIDByEmail(t, w.owner.Email)
	all.Compare(t, "data tfe_organization_members",
		replay.Fields{"active": sorted(owner, anna.membershipID), "invited": []string{invited}},
		replay.Fields{"active": sorted(got["active"].([]string)...), "invited": got["invited"]})
}

// membershipIDByEmail finds a membership like the provider does, by the email of the included user.
func (w world) membershipIDByEmail(t *testing.T, email string) string {
	t.Helper()
	found, err := w.client.OrganizationMemberships.List(t.Context(), w.organization, &tfe.OrganizationMembershipListOptions{
		Emails: []string{email}, Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser},
	})
	must(t, err)
	wantEqual(t, "memberships with the address "+email, len(found.Items), 1)
	wantEqual(t, "address of the included user", found.Items[0].User.Email, email)
	return found.Items[0].ID
}

// invite returns the membership of a user who has not accepted.
func (w world) invite(t *testing.T) string {
	t.Helper()
	invited, err := w.client.OrganizationMemberships.Create(t.Context(), w.organization, tfe.OrganizationMembershipCreateOptions{
		Email: tfe.String(w.server.NewUser(t, "invited").Email),
	})
	must(t, err)
	return invited.ID
}
