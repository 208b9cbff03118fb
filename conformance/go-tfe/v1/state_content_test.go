package v1

import (
	"testing"

	"github.com/hashicorp/go-tfe"
)

func TestContentOfAnOldStateIsDeletedRestoredAndDeletedForGood(t *testing.T) {
	w := newWorld(t)
	workspace := w.newLockedWorkspace(t, "network")
	first := w.uploadState(t, workspace, stateWithOutputs)
	_, err := w.client.StateVersions.Upload(t.Context(), workspace.ID, uploadOptions(2, stateFile(2, "{}", "[]")))
	must(t, err)
	status := func() tfe.StateVersionStatus {
		shown, err := w.client.StateVersions.Read(t.Context(), first.ID)
		must(t, err)
		return shown.Status
	}
	must(t, w.client.StateVersions.SoftDeleteBackingData(t.Context(), first.ID))
	wantEqual(t, "status", status(), tfe.StateVersionStatus("backing_data_soft_deleted"))
	must(t, w.client.StateVersions.RestoreBackingData(t.Context(), first.ID))
	wantEqual(t, "status", status(), tfe.StateVersionFinalized)
	outputs, err := w.client.StateVersions.ListOutputs(t.Context(), first.ID, nil)
	must(t, err)
	wantEqual(t, "has outputs again", len(outputs.Items) > 0, true)
	must(t, w.client.StateVersions.SoftDeleteBackingData(t.Context(), first.ID))
	must(t, w.client.StateVersions.PermanentlyDeleteBackingData(t.Context(), first.ID))
	wantEqual(t, "status", status(), tfe.StateVersionStatus("backing_data_permanently_deleted"))
	_, err = w.client.StateVersions.ListOutputs(t.Context(), first.ID, nil)
	wantError(t, err, tfe.ErrResourceNotFound)
	wantRefusal(t, w.client.StateVersions.RestoreBackingData(t.Context(), first.ID))
}
