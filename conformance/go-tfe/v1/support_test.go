// Package v1 drives a running Purser with go-tfe v1, the client of the tfe provider up to 0.79.
package v1

import (
	"errors"
	"reflect"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness"
)

// world is a new organization for one test, with a client of its owner.
type world struct {
	server       harness.Server
	owner        harness.User
	organization string
	client       *tfe.Client
}

func newWorld(t *testing.T) world {
	t.Helper()
	t.Parallel()
	server := harness.Running(t)
	owner := server.NewUser(t, "owner")
	return world{
		server:       server,
		owner:        owner,
		organization: server.NewOrganization(t, owner),
		client:       newClient(t, server, owner.Token),
	}
}

func newClient(t *testing.T, server harness.Server, token string) *tfe.Client {
	t.Helper()
	client, err := tfe.NewClient(&tfe.Config{Address: server.Through(t, "go-tfe v1"), Token: token})
	must(t, err)
	return client
}

// member is an active member of the organization, with their own client.
type member struct {
	harness.User
	membershipID string
	client       *tfe.Client
}

func (w world) newMember(t *testing.T, name string) member {
	t.Helper()
	user := w.server.NewUser(t, name)
	return member{
		User:         user,
		membershipID: w.server.Join(t, w.organization, w.owner, user),
		client:       newClient(t, w.server, user.Token),
	}
}

func (w world) newTeam(t *testing.T, name string) *tfe.Team {
	t.Helper()
	team, err := w.client.Teams.Create(t.Context(), w.organization, tfe.TeamCreateOptions{Name: tfe.String(name)})
	must(t, err)
	return team
}

// newTeamOf creates a team with the given members.
func (w world) newTeamOf(t *testing.T, name string, members ...member) *tfe.Team {
	t.Helper()
	team := w.newTeam(t, name)
	var usernames []string
	for _, member := range members {
		usernames = append(usernames, member.Username)
	}
	must(t, w.client.TeamMembers.Add(t.Context(), team.ID, tfe.TeamMemberAddOptions{Usernames: usernames}))
	return team
}

func (w world) newWorkspace(t *testing.T, name string) *tfe.Workspace {
	t.Helper()
	workspace, err := w.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{Name: tfe.String(name)})
	must(t, err)
	return workspace
}

func (w world) grant(t *testing.T, team *tfe.Team, workspace *tfe.Workspace, access tfe.AccessType) *tfe.TeamAccess {
	t.Helper()
	granted, err := w.client.TeamAccess.Add(t.Context(), tfe.TeamAccessAddOptions{
		Access:    &access,
		Team:      team,
		Workspace: workspace,
	})
	must(t, err)
	return granted
}

func (w world) grantReadOutputs(t *testing.T, team *tfe.Team, workspace *tfe.Workspace) *tfe.TeamAccess {
	t.Helper()
	granted, err := w.client.TeamAccess.Add(t.Context(), tfe.TeamAccessAddOptions{
		Access:        tfe.Access(tfe.AccessCustom),
		StateVersions: tfe.StateVersionsPermission(tfe.StateVersionsPermissionReadOutputs),
		Team:          team,
		Workspace:     workspace,
	})
	must(t, err)
	return granted
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func wantError(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got error %v, want %v", got, want)
	}
}

// wantRefusal expects an error that go-tfe only passes on as text: neither "not found" nor "unauthorized".
func wantRefusal(t *testing.T, err error) {
	t.Helper()
	if err == nil || errors.Is(err, tfe.ErrResourceNotFound) || errors.Is(err, tfe.ErrUnauthorized) {
		t.Fatalf("got error %v, want a refusal of the body", err)
	}
}

func wantEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}
