package v1

import (
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness/replay"
)

func replayWorkspaceIDs(t *testing.T, w world, all *replay.Replays) {
	ids := map[string]string{}
	for name, tags := range map[string][]string{"net-a": {"network"}, "net-b": {"network", "old"}, "storage": {"storage"}} {
		created, err := w.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{
			Name: tfe.String(name), Tags: tagsNamed(tags), TagBindings: []*tfe.TagBinding{{Key: "env", Value: tags[0]}},
		})
		must(t, err)
		ids[name] = created.ID
	}
	for _, search := range []struct {
		options tfe.WorkspaceListOptions
		want    []string
	}{
		{tfe.WorkspaceListOptions{}, []string{"net-a", "net-b", "storage"}},
		{tfe.WorkspaceListOptions{Tags: "network"}, []string{"net-a", "net-b"}},
		{tfe.WorkspaceListOptions{Tags: "network", ExcludeTags: "old"}, []string{"net-a"}},
		{tfe.WorkspaceListOptions{
			TagBindings: []*tfe.TagBinding{{Key: "env", Value: "storage"}}, Include: []tfe.WSIncludeOpt{tfe.WSEffectiveTagBindings},
		}, []string{"storage"}},
	} {
		search.options.PageSize = 2
		want, got := []string{}, []string{}
		for _, name := range search.want {
			want = append(want, ids[name])
		}
		for {
			page, err := w.client.Workspaces.List(t.Context(), w.organization, &search.options)
			must(t, err)
			for _, workspace := range page.Items {
				got = append(got, workspace.ID)
			}
			if page.CurrentPage >= page.TotalPages {
				break
			}
			search.options.PageNumber = page.NextPage
		}
		all.Compare(t, "data tfe_workspace_ids", replay.Fields{"ids": sorted(want...)}, replay.Fields{"ids": sorted(got...)})
	}
}

func replayOutputs(t *testing.T, w world, all *replay.Replays) {
	w.uploadState(t, w.newLockedWorkspace(t, "network"), stateOfOutputs)
	read, err := w.client.Workspaces.ReadWithOptions(t.Context(), w.organization, "network", &tfe.WorkspaceReadOptions{Include: []tfe.WSIncludeOpt{tfe.WSOutputs}})
	must(t, err)
	wantEqual(t, "organization", read.Organization.Name, w.organization)
	got, sensitive := replay.Fields{}, []string{}
	for _, output := range read.Outputs {
		got[output.Name] = []any{output.Value}
		if output.Sensitive {
			sensitive = append(sensitive, output.Name)
			byID, err := w.client.StateVersionOutputs.Read(t.Context(), output.ID)
			must(t, err)
			got[output.Name] = []any{byID.Value}
		}
	}
	all.Compare(t, "data tfe_outputs", replay.Fields{
		"bool": []any{true}, "list": []any{[]any{"a", "b"}}, "null": []any{nil}, "number": []any{1.5},
		"object": []any{map[string]any{"a": 1, "b": []any{}}}, "secret": []any{"hidden"}, "string": []any{""},
	}, got)
	wantEqual(t, "sensitive outputs", sorted(sensitive...), []string{"secret"})
	wantEqual(t, "number of outputs", len(got), 7)
}

var stateOfOutputs = []byte(`{"version":4,"terraform_version":"1.10.10","serial":1,"lineage":"replayed","outputs":{` +
	`"string":{"value":"","type":"string"},"number":{"value":1.5,"type":"number"},"bool":{"value":true,"type":"bool"},` +
	`"list":{"value":["a","b"],"type":["list","string"]},"object":{"value":{"a":1,"b":[]},"type":["object",{"a":"number","b":["tuple",[]]}]},` +
	`"null":{"value":null,"type":"string"},"secret":{"value":"hidden","type":"string","sensitive":true}},"resources":[]}`)
