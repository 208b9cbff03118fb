package v1

import (
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness"
)

func TestOrganizationIsCreatedShownUpdatedAndDeleted(t *testing.T) {
	t.Parallel()
	server := harness.Running(t)
	owner := server.NewUser(t, "owner")
	client := newClient(t, server, owner.Token)
	name := harness.Unique("org")
	created, err := client.Organizations.Create(t.Context(), tfe.OrganizationCreateOptions{
		Name:  tfe.String(name),
		Email: tfe.String(owner.Email),
	})
	must(t, err)
	wantEqual(t, "name", created.Name, name)
	wantEqual(t, "email", created.Email, owner.Email)
	wantEqual(t, "default-execution-mode", created.DefaultExecutionMode, harness.DefaultExecutionMode())
	wantEqual(t, "can-create-team", created.Permissions.CanCreateTeam, true)
	wantEqual(t, "can-destroy", created.Permissions.CanDestroy, true)

	_, err = client.Organizations.Create(t.Context(), tfe.OrganizationCreateOptions{
		Name:  tfe.String(name),
		Email: tfe.String(owner.Email),
	})
	wantRefusal(t, err)

	shown, err := client.Organizations.Read(t.Context(), name)
	must(t, err)
	wantEqual(t, "shown name", shown.Name, name)
	updated, err := client.Organizations.Update(t.Context(), name, tfe.OrganizationUpdateOptions{
		Email: tfe.String("office@example.com"),
	})
	must(t, err)
	wantEqual(t, "updated email", updated.Email, "office@example.com")

	listed, err := client.Organizations.List(t.Context(), nil)
	must(t, err)
	wantEqual(t, "number of one's own organizations", len(listed.Items), 1)
	entitlements, err := client.Organizations.ReadEntitlements(t.Context(), name)
	must(t, err)
	wantEqual(t, "entitlement: teams", entitlements.Teams, true)
	wantEqual(t, "entitlement: state storage", entitlements.StateStorage, true)
	wantEqual(t, "entitlement: operations", entitlements.Operations, false)

	must(t, client.Organizations.Delete(t.Context(), name))
	_, err = client.Organizations.Read(t.Context(), name)
	wantError(t, err, tfe.ErrResourceNotFound)
}

func TestDeletedOrganizationTakesItsContentsAlong(t *testing.T) {
	t.Parallel()
	server := harness.Running(t)
	owner := server.NewUser(t, "owner")
	client := newClient(t, server, owner.Token)
	name := harness.Unique("org")
	_, err := client.Organizations.Create(t.Context(), tfe.OrganizationCreateOptions{Name: tfe.String(name), Email: tfe.String(owner.Email)})
	must(t, err)
	team, err := client.Teams.Create(t.Context(), name, tfe.TeamCreateOptions{Name: tfe.String("readers")})
	must(t, err)
	workspace, err := client.Workspaces.Create(t.Context(), name, tfe.WorkspaceCreateOptions{Name: tfe.String("network")})
	must(t, err)
	must(t, client.Organizations.Delete(t.Context(), name))
	_, err = client.Teams.Read(t.Context(), team.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	_, err = client.Workspaces.ReadByID(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
}
