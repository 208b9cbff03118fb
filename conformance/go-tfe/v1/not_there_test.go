package v1

import (
	"io"
	"testing"
	"time"

	"github.com/hashicorp/go-tfe"
)

// Features that Purser lacks must answer 404 at once: the client would retry a 5xx for minutes.
func TestWhatIsNotThereIsNotFound(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	older := tfe.DataRetentionPolicyDeleteOlderSetOptions{DeleteOlderThanNDays: 30}
	old := tfe.DataRetentionPolicySetOptions{DeleteOlderThanNDays: 30}
	keep := tfe.DataRetentionPolicyDontDeleteSetOptions{}
	key := tfe.WorkspaceAssignSSHKeyOptions{SSHKeyID: tfe.String("sshkey-abc")}
	account := tfe.UserUpdateOptions{Email: tfe.String("new@example.com")}
	for name, err := range map[string]error{
		"account":                    second(w.client.Users.UpdateCurrent(t.Context(), account)),
		"capacity":                   second(w.client.Organizations.ReadCapacity(t.Context(), w.organization)),
		"run queue":                  second(w.client.Organizations.ReadRunQueue(t.Context(), w.organization, tfe.ReadRunQueueOptions{})),
		"organization: retention":    second(w.client.Organizations.ReadDataRetentionPolicy(t.Context(), w.organization)),
		"organization: retain":       second(w.client.Organizations.SetDataRetentionPolicy(t.Context(), w.organization, old)),
		"organization: delete older": second(w.client.Organizations.SetDataRetentionPolicyDeleteOlder(t.Context(), w.organization, older)),
		"organization: keep":         second(w.client.Organizations.SetDataRetentionPolicyDontDelete(t.Context(), w.organization, keep)),
		"organization: no retention": w.client.Organizations.DeleteDataRetentionPolicy(t.Context(), w.organization),
		"workspace: retention":       second(w.client.Workspaces.ReadDataRetentionPolicy(t.Context(), workspace.ID)),
		"workspace: retain":          second(w.client.Workspaces.SetDataRetentionPolicy(t.Context(), workspace.ID, old)),
		"workspace: delete older":    second(w.client.Workspaces.SetDataRetentionPolicyDeleteOlder(t.Context(), workspace.ID, older)),
		"workspace: keep":            second(w.client.Workspaces.SetDataRetentionPolicyDontDelete(t.Context(), workspace.ID, keep)),
		"workspace: no retention":    w.client.Workspaces.DeleteDataRetentionPolicy(t.Context(), workspace.ID),
		"ssh key":                    second(w.client.Workspaces.AssignSSHKey(t.Context(), workspace.ID, key)),
		"no ssh key":                 second(w.client.Workspaces.UnassignSSHKey(t.Context(), workspace.ID)),
	} {
		t.Run(name, func(t *testing.T) { wantError(t, err, tfe.ErrResourceNotFound) })
	}
}

// The client looks for the kind of policy in the organization or workspace, and finds none.
func TestThereIsNoChoiceOfRetention(t *testing.T) {
	w := newWorld(t)
	ofOrganization, err := w.client.Organizations.ReadDataRetentionPolicyChoice(t.Context(), w.organization)
	must(t, err)
	wantEqual(t, "policy of the organization", ofOrganization, nil)
	ofWorkspace, err := w.client.Workspaces.ReadDataRetentionPolicyChoice(t.Context(), w.newWorkspace(t, "network").ID)
	must(t, err)
	wantEqual(t, "policy of the workspace", ofWorkspace, nil)
}

func TestWorkspaceHasNoReadmeAndNoVersionControl(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	readme, err := w.client.Workspaces.Readme(t.Context(), workspace.ID)
	must(t, err)
	wantEqual(t, "readme", readme, io.Reader(nil))
	byID, err := w.client.Workspaces.RemoveVCSConnectionByID(t.Context(), workspace.ID)
	must(t, err)
	byName, err := w.client.Workspaces.RemoveVCSConnection(t.Context(), w.organization, "network")
	must(t, err)
	wantEqual(t, "connection", byID.VCSRepo, nil)
	wantEqual(t, "id by name", byName.ID, workspace.ID)
}

func TestOrganizationIsReadWithItsDefaultProject(t *testing.T) {
	w := newWorld(t)
	organization, err := w.client.Organizations.ReadWithOptions(t.Context(), w.organization, tfe.OrganizationReadOptions{
		Include: []tfe.OrganizationIncludeOpt{tfe.OrganizationDefaultProject},
	})
	must(t, err)
	wantEqual(t, "name of the default project", organization.DefaultProject.Name, "Default Project")
}

func TestTokenForAuditTrailsReadsThemAndNothingElse(t *testing.T) {
	w := newWorld(t)
	kind := tfe.AuditTrailToken
	read := tfe.OrganizationTokenReadOptions{TokenType: &kind}
	_, err := w.client.OrganizationTokens.ReadWithOptions(t.Context(), w.organization, read)
	wantError(t, err, tfe.ErrResourceNotFound)
	created, err := w.client.OrganizationTokens.CreateWithOptions(t.Context(), w.organization, tfe.OrganizationTokenCreateOptions{TokenType: &kind})
	must(t, err)
	shown, err := w.client.OrganizationTokens.ReadWithOptions(t.Context(), w.organization, read)
	must(t, err)
	wantEqual(t, "id", shown.ID, created.ID)
	_, err = w.client.OrganizationTokens.Read(t.Context(), w.organization)
	wantError(t, err, tfe.ErrResourceNotFound)

	machine := newClient(t, w.server, created.Token)
	trail, err := machine.AuditTrails.List(t.Context(), &tfe.AuditTrailListOptions{Since: time.Now().Add(-time.Hour)})
	must(t, err)
	if len(trail.Items) == 0 || trail.Items[0].Timestamp.IsZero() {
		t.Fatalf("the trail is empty: %v", trail.Items)
	}
	_, err = machine.Organizations.Read(t.Context(), w.organization)
	wantError(t, err, tfe.ErrResourceNotFound)

	must(t, w.client.OrganizationTokens.DeleteWithOptions(t.Context(), w.organization, tfe.OrganizationTokenDeleteOptions{TokenType: &kind}))
	_, err = machine.AuditTrails.List(t.Context(), nil)
	wantError(t, err, tfe.ErrUnauthorized)
}

func TestSanitizedStatesHaveNoPlace(t *testing.T) {
	w := newWorld(t)
	err := w.client.StateVersions.UploadSanitizedState(t.Context(), nil, []byte("{}"))
	wantError(t, err, tfe.ErrSanitizedStateUploadURLMissing)
}
