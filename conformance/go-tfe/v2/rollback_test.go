package v2

import (
	"testing"

	"github.com/hashicorp/go-tfe/v2/api/models"

	"purser.example/conformance/harness/replay"
)

func TestStateIsRolledBack(t *testing.T) {
	w := newWorld(t)
	workspace := *w.newWorkspace(t, "network").GetId()
	must(t, second(w.client.API.Workspaces().ByWorkspace_id(workspace).Actions().Lock().Post(t.Context(), models.NewActionReason(), nil)))
	versions := w.client.API.Workspaces().ByWorkspace_id(workspace).StateVersions()
	first, err := versions.Post(t.Context(), stateBody(state), nil)
	must(t, err)
	rolledBack, err := versions.Patch(t.Context(), resourceBody[models.StateVersionsEnvelopeable](t,
		models.CreateStateVersionsEnvelopeFromDiscriminatorValue, "state-versions", replay.Fields{},
		map[string]any{"rollback-state-version": to("state-versions", *first.GetData().GetId())}), nil)
	must(t, err)
	wantEqual(t, "serial of the new version", *rolledBack.GetData().GetAttributes().GetSerial(), 2)
}
