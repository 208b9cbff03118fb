package v2

import (
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/hashicorp/go-tfe/v2"
	"github.com/hashicorp/go-tfe/v2/api/models"
	"github.com/hashicorp/go-tfe/v2/api/organizations"
	"github.com/hashicorp/go-tfe/v2/api/stateversions"
	"github.com/hashicorp/go-tfe/v2/api/teamworkspaces"
	"github.com/hashicorp/go-tfe/v2/api/workspaces"
	"github.com/microsoft/kiota-abstractions-go/serialization"
	kiotajson "github.com/microsoft/kiota-serialization-json-go"

	"purser.example/conformance/harness"
)

const state = `{"version":4,"terraform_version":"1.10.10","serial":1,"lineage":"6b1f31a5","outputs":{
  "list":   {"value": ["a", "b"], "type": ["list", "string"]},
  "mixed":  {"value": ["a", 1], "type": ["tuple", ["string", "number"]]},
  "secret": {"value": "hunter2", "type": "string", "sensitive": true},
  "text":   {"value": "10.0.0.0/16", "type": "string"}
},"resources":[],"check_results":null}`

func stateBody(state string) models.StateVersionsEnvelopeable {
	attributes := models.NewStateVersions_attributes()
	attributes.SetSerial(new(int32(1)))
	attributes.SetMd5(new(fmt.Sprintf("%x", md5.Sum([]byte(state)))))
	attributes.SetLineage(new("6b1f31a5"))
	attributes.SetState(new(base64.StdEncoding.EncodeToString([]byte(state))))
	version := models.NewStateVersions()
	version.SetTypeEscaped(new(models.STATEVERSIONS_STATEVERSIONS_TYPE))
	version.SetAttributes(attributes)
	body := models.NewStateVersionsEnvelope()
	body.SetData(version)
	return body
}

// newWorkspaceWithState creates a workspace with a state, locked by the owner.
func (w world) newWorkspaceWithState(t *testing.T) (workspaceID, stateID string) {
	t.Helper()
	workspaceID = *w.newWorkspace(t, "network").GetId()
	workspace := w.client.API.Workspaces().ByWorkspace_id(workspaceID)
	reason := models.NewActionReason()
	reason.SetReason(new("upload"))
	locked, err := workspace.Actions().Lock().Post(t.Context(), reason, nil)
	must(t, err)
	wantEqual(t, "locked", *locked.GetData().GetAttributes().GetLocked(), true)
	created, err := workspace.StateVersions().Post(t.Context(), stateBody(state), nil)
	must(t, err)
	wantEqual(t, "status", created.GetData().GetAttributes().GetStatus().String(), "finalized")
	return workspaceID, *created.GetData().GetId()
}

func (w world) grantReadOutputs(t *testing.T, teamID, workspaceID string) models.TeamWorkspacesable {
	t.Helper()
	attributes := models.NewTeamWorkspaces_attributes()
	attributes.SetAccess(new(models.CUSTOM_TEAMWORKSPACES_ATTRIBUTES_ACCESS))
	attributes.SetStateVersions(new(models.READOUTPUTS_TEAMWORKSPACES_ATTRIBUTES_STATEVERSIONS))
	team, workspace := models.NewTeamsId(), models.NewWorkspacesId()
	teamData, workspaceData := models.NewTeamsId_data(), models.NewWorkspacesId_data()
	teamData.SetTypeEscaped(new(models.TEAMS_TEAMSID_DATA_TYPE))
	teamData.SetId(new(teamID))
	team.SetData(teamData)
	workspaceData.SetTypeEscaped(new(models.WORKSPACES_WORKSPACESID_DATA_TYPE))
	workspaceData.SetId(new(workspaceID))
	workspace.SetData(workspaceData)
	relationships := models.NewTeamWorkspaces_relationships()
	relationships.SetTeam(team)
	relationships.SetWorkspace(workspace)
	access := models.NewTeamWorkspaces()
	access.SetTypeEscaped(new(models.TEAMWORKSPACES_TEAMWORKSPACES_TYPE))
	access.SetAttributes(attributes)
	access.SetRelationships(relationships)
	body := models.NewTeamWorkspacesEnvelope()
	body.SetData(access)
	granted, err := w.client.API.TeamWorkspaces().Post(t.Context(), body, nil)
	must(t, err)
	return granted.GetData()
}

func TestWorkspaceIsCreatedListedAndDeleted(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	wantEqual(t, "execution-mode", workspace.GetAttributes().GetExecutionMode().String(), harness.DefaultExecutionMode())
	byName, err := w.in(w.client).Workspaces().ByWorkspace_name("network").Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "id by name", *byName.GetData().GetId(), *workspace.GetId())
	listed, err := w.in(w.client).Workspaces().Get(t.Context(), with(organizations.ItemWorkspacesRequestBuilderGetQueryParameters{}))
	must(t, err)
	wantEqual(t, "workspaces", len(listed.GetData()), 1)
	byID := w.client.API.Workspaces().ByWorkspace_id(*workspace.GetId())
	must(t, byID.Delete(t.Context(), nil))
	wantStatus(t, second(byID.Get(t.Context(), nil)), tfe.ErrNotFound)
}

func TestWorkspaceIsLockedAndUnlocked(t *testing.T) {
	w := newWorld(t)
	actions := w.client.API.Workspaces().ByWorkspace_id(*w.newWorkspace(t, "network").GetId()).Actions()
	conflict := &tfe.APIError{StatusCode: http.StatusConflict}
	_, err := actions.Unlock().Post(t.Context(), nil)
	wantStatus(t, err, conflict)
	_, err = actions.Lock().Post(t.Context(), models.NewActionReason(), nil)
	must(t, err)
	_, err = actions.Lock().Post(t.Context(), models.NewActionReason(), nil)
	wantStatus(t, err, conflict)
	unlocked, err := actions.Unlock().Post(t.Context(), nil)
	must(t, err)
	wantEqual(t, "locked", *unlocked.GetData().GetAttributes().GetLocked(), false)
	_, err = actions.ForceUnlock().Post(t.Context(), nil)
	wantStatus(t, err, conflict)
}

func TestStateIsShownAndDownloaded(t *testing.T) {
	w := newWorld(t)
	workspaceID, stateID := w.newWorkspaceWithState(t)
	current, err := w.client.API.Workspaces().ByWorkspace_id(workspaceID).CurrentStateVersion().Get(t.Context(),
		with(workspaces.ItemCurrentStateVersionRequestBuilderGetQueryParameters{Include: new("outputs")}))
	must(t, err)
	wantEqual(t, "current state", *current.GetData().GetId(), stateID)
	wantEqual(t, "included outputs", len(current.GetIncluded()), 4)
	shown, err := w.client.API.StateVersions().ByState_version_id(stateID).Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "serial", *shown.GetData().GetAttributes().GetSerial(), 1)
	wantEqual(t, "resources-processed", *shown.GetData().GetAttributes().GetResourcesProcessed(), true)

	response, err := w.client.GetStream(t.Context(), *shown.GetData().GetAttributes().GetHostedStateDownloadUrl(), nil)
	must(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	must(t, err)
	wantEqual(t, "downloaded state", string(content), state)
}

func TestOutputsAreListedAndRead(t *testing.T) {
	w := newWorld(t)
	workspaceID, stateID := w.newWorkspaceWithState(t)
	list := w.client.API.StateVersions().ByState_version_id(stateID).Outputs()
	all, err := list.Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "outputs", described(t, all.GetData()), outputs(harness.ListedSecret(`"hunter2"`)))
	page, err := list.Get(t.Context(), with(stateversions.ItemOutputsRequestBuilderGetQueryParameters{
		Pagenumber: new(int32(2)),
		Pagesize:   new(int32(3)),
	}))
	must(t, err)
	wantEqual(t, "second page", described(t, page.GetData()), outputs("")[3:])
	wantEqual(t, "total", *page.GetMeta().GetPagination().GetTotalCount(), 4)

	masked, err := w.client.API.Workspaces().ByWorkspace_id(workspaceID).CurrentStateVersionOutputs().Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "current outputs", described(t, masked.GetData()), outputs("null"))
	secret, err := w.client.API.StateVersionOutputs().ByState_version_output_id(*masked.GetData()[2].GetId()).Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "sensitive output by its id", described(t, []models.StateVersionOutputsable{secret.GetData()}), outputs(`"hunter2"`)[2:3])
}

func TestReaderOfOutputsNeverGetsTheState(t *testing.T) {
	w := newWorld(t)
	workspaceID, stateID := w.newWorkspaceWithState(t)
	reader, readerClient := w.newMember(t, "reader")
	team := w.newTeamOf(t, "readers", reader)
	workspace := readerClient.API.Workspaces().ByWorkspace_id(workspaceID)
	wantStatus(t, second(readerClient.API.StateVersions().ByState_version_id(stateID).Outputs().Get(t.Context(), nil)), tfe.ErrNotFound)

	granted := w.grantReadOutputs(t, *team.GetId(), workspaceID)
	wantEqual(t, "state-versions", granted.GetAttributes().GetStateVersions().String(), "read-outputs")
	listed, err := w.client.API.TeamWorkspaces().Get(t.Context(), with(teamworkspaces.TeamWorkspacesRequestBuilderGetQueryParameters{
		Filterworkspaceid: new(workspaceID),
	}))
	must(t, err)
	wantEqual(t, "grants", len(listed.GetData()), 1)

	readable, err := readerClient.API.StateVersions().ByState_version_id(stateID).Outputs().Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "outputs for the reader", described(t, readable.GetData()), outputs(harness.ListedSecret(`"hunter2"`)))
	wantStatus(t, second(workspace.CurrentStateVersion().Get(t.Context(), nil)), tfe.ErrNotFound)
	wantStatus(t, second(readerClient.API.StateVersions().ByState_version_id(stateID).Get(t.Context(), nil)), tfe.ErrNotFound)
	wantStatus(t, second(workspace.StateVersions().Post(t.Context(), stateBody(state), nil)), tfe.ErrNotFound)

	must(t, w.client.API.TeamWorkspaces().ByTeam_workspace_id(*granted.GetId()).Delete(t.Context(), nil))
	wantStatus(t, second(readerClient.API.StateVersions().ByState_version_id(stateID).Outputs().Get(t.Context(), nil)), tfe.ErrNotFound)
}

// outputs returns the state's outputs in the format of described. The sensitive value depends on caller and request.
func outputs(secret string) []string {
	return []string{
		`list array ["list","string"] ["a","b"] false`,
		`mixed array ["tuple",["string","number"]] ["a",1] false`,
		`secret string "string" ` + secret + ` true`,
		`text string "string" "10.0.0.0/16" false`,
	}
}

func described(t *testing.T, outputs []models.StateVersionOutputsable) []string {
	t.Helper()
	var lines []string
	for _, output := range outputs {
		attributes := output.GetAttributes()
		lines = append(lines, fmt.Sprintf("%s %s %s %s %v",
			*attributes.GetName(), *attributes.GetTypeEscaped(), untyped(t, attributes.GetDetailedType()),
			asJSON(attributes.GetAdditionalData()["value"]), *attributes.GetSensitive()))
	}
	return lines
}

// untyped returns the JSON of a value that the client keeps without a model.
func untyped(t *testing.T, node serialization.UntypedNodeable) string {
	t.Helper()
	writer := kiotajson.NewJsonSerializationWriter()
	must(t, writer.WriteObjectValue("", node))
	text, err := writer.GetSerializedContent()
	must(t, err)
	return string(text)
}
