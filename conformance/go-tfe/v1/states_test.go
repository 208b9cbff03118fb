package v1

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness"
)

const lineage = "6b1f31a5-9a4c-4a0e-8a0f-2f9d2f7a5c11"

// stateFile returns a state of format 4 with the given JSON texts of its outputs and resources.
func stateFile(serial int64, outputs, resources string) []byte {
	return fmt.Appendf(nil,
		`{"version":4,"terraform_version":"1.10.10","serial":%d,"lineage":%q,"outputs":%s,"resources":%s,"check_results":null}`,
		serial, lineage, outputs, resources)
}

const someOutputs = `{
  "flag":    {"value": true, "type": "bool"},
  "list":    {"value": ["a", "b"], "type": ["list", "string"]},
  "mixed":   {"value": ["a", 1, false], "type": ["tuple", ["string", "number", "bool"]]},
  "nothing": {"value": null, "type": "string"},
  "number":  {"value": 9007199254740993, "type": "number"},
  "object":  {"value": {"id": "subnet-1", "size": 24}, "type": ["object", {"id": "string", "size": "number"}]},
  "secret":  {"value": "hunter2", "type": "string", "sensitive": true},
  "text":    {"value": "10.0.0.0/16", "type": "string"}
}`

const oneResource = `[{"mode":"managed","type":"terraform_data","name":"one","provider":"provider[\"terraform.io/builtin/terraform\"]",
  "instances":[{"schema_version":0,"attributes":{"id":"1","input":null,"output":null,"triggers_replace":null}}]}]`

var (
	stateWithOutputs  = stateFile(1, someOutputs, "[]")
	stateWithResource = stateFile(1, "{}", oneResource)
)

func md5Of(state []byte) *string {
	return tfe.String(fmt.Sprintf("%x", md5.Sum(state)))
}

// createOptions returns options that send the state within the request.
func createOptions(serial int64, state []byte) tfe.StateVersionCreateOptions {
	return tfe.StateVersionCreateOptions{
		Lineage: tfe.String(lineage),
		MD5:     md5Of(state),
		Serial:  tfe.Int64(serial),
		State:   tfe.String(base64.StdEncoding.EncodeToString(state)),
	}
}

func uploadOptions(serial int64, state []byte) tfe.StateVersionUploadOptions {
	options := createOptions(serial, state)
	options.State = nil
	return tfe.StateVersionUploadOptions{StateVersionCreateOptions: options, RawState: state}
}

func (w world) uploadState(t *testing.T, workspace *tfe.Workspace, state []byte) *tfe.StateVersion {
	t.Helper()
	uploaded, err := w.client.StateVersions.Upload(t.Context(), workspace.ID, uploadOptions(1, state))
	must(t, err)
	return uploaded
}

func (w world) newLockedWorkspace(t *testing.T, name string) *tfe.Workspace {
	t.Helper()
	workspace := w.newWorkspace(t, name)
	_, err := w.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	return workspace
}

func TestStateIsCreatedListedAndDownloaded(t *testing.T) {
	w := newWorld(t)
	workspace := w.newLockedWorkspace(t, "network")
	_, err := w.client.StateVersions.ReadCurrent(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	created, err := w.client.StateVersions.Create(t.Context(), workspace.ID, createOptions(1, stateWithOutputs))
	must(t, err)
	wantEqual(t, "serial", created.Serial, 1)
	wantEqual(t, "status", created.Status, tfe.StateVersionFinalized)
	again, err := w.client.StateVersions.Create(t.Context(), workspace.ID, createOptions(1, stateWithOutputs))
	must(t, err)
	wantEqual(t, "id of the same state sent again", again.ID, created.ID)

	current, err := w.client.StateVersions.ReadCurrent(t.Context(), workspace.ID)
	must(t, err)
	wantEqual(t, "current state", current.ID, created.ID)
	wantEqual(t, "resources-processed", current.ResourcesProcessed, true)
	wantEqual(t, "size", current.Size, int64(len(stateWithOutputs)))
	wantEqual(t, "terraform-version", current.TerraformVersion, "1.10.10")
	downloaded, err := w.client.StateVersions.Download(t.Context(), current.DownloadURL)
	must(t, err)
	if !bytes.Equal(downloaded, stateWithOutputs) {
		t.Fatalf("downloaded state differs: %s", downloaded)
	}
}

func TestStateIsUploadedToItsURL(t *testing.T) {
	w := newWorld(t)
	workspace := w.newLockedWorkspace(t, "network")
	uploaded := w.uploadState(t, workspace, stateWithOutputs)
	wantEqual(t, "status", uploaded.Status, tfe.StateVersionFinalized)
	wantEqual(t, "upload URL after the upload", uploaded.UploadURL, "")
	second := stateFile(2, "{}", "[]")
	_, err := w.client.StateVersions.Upload(t.Context(), workspace.ID, uploadOptions(2, second))
	must(t, err)

	listed, err := w.client.StateVersions.List(t.Context(), &tfe.StateVersionListOptions{
		Organization: w.organization,
		Workspace:    "network",
	})
	must(t, err)
	wantEqual(t, "number of state versions", len(listed.Items), 2)
	wantEqual(t, "newest first", listed.Items[0].Serial, 2)
	_, err = w.client.Workspaces.Unlock(t.Context(), workspace.ID)
	must(t, err)
}

func TestStateIsRefusedWhenItDoesNotFollow(t *testing.T) {
	w := newWorld(t)
	workspace := w.newWorkspace(t, "network")
	_, err := w.client.StateVersions.Create(t.Context(), workspace.ID, createOptions(1, stateWithOutputs))
	wantText(t, err, "not locked")
	_, err = w.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	wrongSum := createOptions(2, stateWithOutputs)
	wrongSum.MD5 = md5Of([]byte("something else"))
	_, err = w.client.StateVersions.Create(t.Context(), workspace.ID, wrongSum)
	wantRefusal(t, err)
	_, err = w.client.StateVersions.Create(t.Context(), workspace.ID, createOptions(2, []byte(`{"version":99}`)))
	wantRefusal(t, err)

	_, err = w.client.StateVersions.Create(t.Context(), workspace.ID, createOptions(2, stateWithOutputs))
	must(t, err)
	other := stateFile(2, "{}", "[]")
	_, err = w.client.StateVersions.Create(t.Context(), workspace.ID, createOptions(2, other))
	wantText(t, err, "MD5 hash of the state provided does not match")
	_, err = w.client.StateVersions.Create(t.Context(), workspace.ID, createOptions(1, other))
	wantText(t, err, "serial provided in the state file is not greater")
	foreign := createOptions(3, other)
	foreign.Lineage = tfe.String("another")
	_, err = w.client.StateVersions.Create(t.Context(), workspace.ID, foreign)
	wantText(t, err, "lineage provided in the state file does not match")
	foreign.Force = tfe.Bool(true)
	_, err = w.client.StateVersions.Create(t.Context(), workspace.ID, foreign)
	must(t, err)
}

func TestUnlockWaitsForAPendingState(t *testing.T) {
	w := newWorld(t)
	workspace := w.newLockedWorkspace(t, "network")
	pending := createOptions(1, stateWithOutputs)
	pending.State = nil
	created, err := w.client.StateVersions.Create(t.Context(), workspace.ID, pending)
	must(t, err)
	wantEqual(t, "status", created.Status, tfe.StateVersionPending)
	_, err = w.client.Workspaces.Unlock(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrWorkspaceLockedStateVersionStillPending)
	_, err = w.client.StateVersions.ReadCurrent(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	_, err = w.client.Workspaces.ForceUnlock(t.Context(), workspace.ID)
	must(t, err)
	discarded, err := w.client.StateVersions.Read(t.Context(), created.ID)
	must(t, err)
	wantEqual(t, "status after the forced unlock", discarded.Status, tfe.StateVersionDiscarded)
}

func TestOutputsOfAStateAreListed(t *testing.T) {
	w := newWorld(t)
	workspace := w.newLockedWorkspace(t, "network")
	state := w.uploadState(t, workspace, stateWithOutputs)
	listed, err := w.client.StateVersions.ListOutputs(t.Context(), state.ID, nil)
	must(t, err)
	wantOutputs(t, listed.Items, harness.ListedSecret(`"hunter2"`))
	page, err := w.client.StateVersions.ListOutputs(t.Context(), state.ID, &tfe.StateVersionOutputsListOptions{
		ListOptions: tfe.ListOptions{PageNumber: 2, PageSize: 5},
	})
	must(t, err)
	wantEqual(t, "second page", *page.Pagination, tfe.Pagination{CurrentPage: 2, PreviousPage: 1, TotalPages: 2, TotalCount: 8})
	wantEqual(t, "first output of the second page", page.Items[0].Name, "object")

	included, err := w.client.StateVersions.ReadCurrentWithOptions(t.Context(), workspace.ID, &tfe.StateVersionCurrentOptions{
		Include: []tfe.StateVersionIncludeOpt{tfe.SVoutputs},
	})
	must(t, err)
	wantOutputs(t, included.Outputs, harness.ListedSecret(`"hunter2"`))
	for _, output := range listed.Items {
		read, err := w.client.StateVersionOutputs.Read(t.Context(), output.ID)
		must(t, err)
		want := *output
		if want.Sensitive {
			want.Value = "hunter2"
		}
		wantEqual(t, "output read by its id", *read, want)
	}
	_, err = w.client.StateVersions.ListOutputs(t.Context(), harness.Unique("sv"), nil)
	wantError(t, err, tfe.ErrResourceNotFound)
	_, err = w.client.StateVersions.ReadWithOptions(t.Context(), state.ID, &tfe.StateVersionReadOptions{
		Include: []tfe.StateVersionIncludeOpt{"everything"},
	})
	wantError(t, err, tfe.ErrInvalidIncludeValue)
}

func TestCurrentOutputsMaskWhatIsSensitive(t *testing.T) {
	w := newWorld(t)
	workspace := w.newLockedWorkspace(t, "network")
	_, err := w.client.StateVersionOutputs.ReadCurrent(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
	w.uploadState(t, workspace, stateWithOutputs)
	current, err := w.client.StateVersionOutputs.ReadCurrent(t.Context(), workspace.ID)
	must(t, err)
	wantOutputs(t, current.Items, "null")

	plain := w.newMember(t, "plain")
	seen, err := plain.client.StateVersionOutputs.ReadCurrent(t.Context(), workspace.ID)
	must(t, err)
	wantOutputs(t, seen.Items, "null")
	for _, output := range seen.Items {
		_, err = plain.client.StateVersionOutputs.Read(t.Context(), output.ID)
		wantError(t, err, tfe.ErrResourceNotFound)
	}
	outsider := newClient(t, w.server, w.server.NewUser(t, "outsider").Token)
	_, err = outsider.StateVersionOutputs.ReadCurrent(t.Context(), workspace.ID)
	wantError(t, err, tfe.ErrResourceNotFound)
}

// Outputs above a mebibyte are processed after the upload. Until then the server answers 503, and the client retries.
func TestLargeOutputsAreReadOnceTheyAreProcessed(t *testing.T) {
	w := newWorld(t)
	workspace := w.newLockedWorkspace(t, "network")
	large := strings.Repeat("0123456789abcdef", 1<<17)
	state := w.uploadState(t, workspace, stateFile(1, fmt.Sprintf(`{"large":{"value":%q,"type":"string"}}`, large), "[]"))
	patient, err := tfe.NewClient(&tfe.Config{Address: w.server.Address, Token: w.owner.Token, RetryServerErrors: true})
	must(t, err)
	current, err := patient.StateVersionOutputs.ReadCurrent(t.Context(), workspace.ID)
	must(t, err)
	wantEqual(t, "the value arrives whole", current.Items[0].Value == large, true)
	processed, err := w.client.StateVersions.Read(t.Context(), state.ID)
	must(t, err)
	wantEqual(t, "resources-processed", processed.ResourcesProcessed, true)
}

func TestReaderOfOutputsNeverGetsTheState(t *testing.T) {
	w := newWorld(t)
	workspace := w.newLockedWorkspace(t, "network")
	state := w.uploadState(t, workspace, stateWithOutputs)
	reader := w.newMember(t, "reader")
	w.grantReadOutputs(t, w.newTeamOf(t, "readers", reader), workspace)

	listed, err := reader.client.StateVersions.ListOutputs(t.Context(), state.ID, nil)
	must(t, err)
	wantOutputs(t, listed.Items, harness.ListedSecret(`"hunter2"`))
	for _, output := range listed.Items {
		read, err := reader.client.StateVersionOutputs.Read(t.Context(), output.ID)
		must(t, err)
		want := *output
		if want.Sensitive {
			want.Value = "hunter2"
		}
		wantEqual(t, "output read by its id", *read, want)
	}
	for what, err := range map[string]error{
		"current state": second(reader.client.StateVersions.ReadCurrent(t.Context(), workspace.ID)),
		"state":         second(reader.client.StateVersions.Read(t.Context(), state.ID)),
		"download":      second(reader.client.StateVersions.Download(t.Context(), state.DownloadURL)),
		"create":        second(reader.client.StateVersions.Create(t.Context(), workspace.ID, createOptions(2, stateWithOutputs))),
		"lock":          second(reader.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{})),
		"list": second(reader.client.StateVersions.List(t.Context(), &tfe.StateVersionListOptions{
			Organization: w.organization,
			Workspace:    "network",
		})),
	} {
		t.Run(what, func(t *testing.T) { wantError(t, err, tfe.ErrResourceNotFound) })
	}
}

func TestWorkspaceIsReadWithItsOutputs(t *testing.T) {
	w := newWorld(t)
	workspace := w.newLockedWorkspace(t, "network")
	w.uploadState(t, workspace, stateWithOutputs)
	shown, err := w.client.Workspaces.ReadWithOptions(t.Context(), w.organization, "network", &tfe.WorkspaceReadOptions{
		Include: []tfe.WSIncludeOpt{tfe.WSOutputs},
	})
	must(t, err)
	wantEqual(t, "number of outputs", len(shown.Outputs), 8)
	for _, output := range shown.Outputs {
		read, err := w.client.StateVersionOutputs.Read(t.Context(), output.ID)
		must(t, err)
		wantEqual(t, "name", read.Name, output.Name)
		if output.Sensitive && harness.Dialect() == "current" {
			wantEqual(t, "included secret", output.Value, nil)
			output.Value = "hunter2"
		}
		wantEqual(t, "value", read.Value, output.Value)
		wantEqual(t, "type", read.Type, output.Type)
	}
}

// wantOutputs compares with someOutputs. The sensitive value depends on the request: `secret` is its JSON text.
func wantOutputs(t *testing.T, outputs []*tfe.StateVersionOutput, secret string) {
	t.Helper()
	var got []string
	for _, output := range outputs {
		value, err := json.Marshal(output.Value)
		must(t, err)
		detailed, err := json.Marshal(output.DetailedType)
		must(t, err)
		got = append(got, fmt.Sprintf("%s %s %s %s %v", output.Name, output.Type, detailed, value, output.Sensitive))
	}
	wantEqual(t, "outputs", strings.Join(got, "\n"), strings.Join([]string{
		`flag boolean "bool" true false`,
		`list array ["list","string"] ["a","b"] false`,
		`mixed array ["tuple",["string","number","bool"]] ["a",1,false] false`,
		`nothing string "string" null false`,
		`number number "number" 9007199254740992 false`, // the client reads numbers as float64
		`object object ["object",{"id":"string","size":"number"}] {"id":"subnet-1","size":24} false`,
		`secret string "string" ` + secret + ` true`,
		`text string "string" "10.0.0.0/16" false`,
	}, "\n"))
}

func wantText(t *testing.T, err error, text string) {
	t.Helper()
	wantRefusal(t, err)
	if !strings.Contains(err.Error(), text) {
		t.Fatalf("got error %q, want one with %q", err, text)
	}
}
