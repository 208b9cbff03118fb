package tofu

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/go-tfe"
)

func TestWorkspacesAreMadeListedSelectedAndDeleted(t *testing.T) {
	for kind, selection := range map[string]struct{ workspaces, prefix string }{
		"cloud":  {`tags = ["network", "core"]`, ""},
		"remote": {`prefix = "network-"`, "network-"},
	} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.client.Workspaces.Create(t.Context(), w.organization, tfe.WorkspaceCreateOptions{Name: tfe.String("unrelated")})
			must(t, err)
			d := w.newDirectory(t, w.owner, map[string]string{
				"main.tf":    mainFile,
				"backend.tf": w.backendBlock(kind, selection.workspaces),
			})
			if kind == "remote" {
				d.refused(t, "No existing workspaces", "init")
				d.ok(t, "workspace", "new", "one")
			} else {
				d.okAnswering(t, []string{"one"}, "init")
			}
			d.ok(t, "workspace", "new", "two")
			wantWorkspaces(t, d, "one", "two")
			d.ok(t, "apply", "-auto-approve")
			d.ok(t, "workspace", "select", "one")
			wantNoState(t, d)
			d.refused(t, "doesn't exist", "workspace", "select", "unrelated")

			d.refused(t, "not empty", "workspace", "delete", "two")
			d.ok(t, "workspace", "select", "two")
			d.ok(t, "destroy", "-auto-approve")
			d.ok(t, "workspace", "select", "one")
			d.ok(t, "workspace", "delete", "two")
			wantWorkspaces(t, d, "one")
			_, err = w.client.Workspaces.Read(t.Context(), w.organization, selection.prefix+"two")
			if !errors.Is(err, tfe.ErrResourceNotFound) {
				t.Fatalf("workspace two is still there: %v", err)
			}
		})
	}
}

func TestWorkspaceGetsTheTagsOfTheConfiguration(t *testing.T) {
	w := newWorld(t)
	d := w.newDirectory(t, w.owner, map[string]string{
		"main.tf":    mainFile,
		"backend.tf": w.backendBlock("cloud", `tags = ["network", "core"]`),
	})
	d.okAnswering(t, []string{"one"}, "init")
	workspace, err := w.client.Workspaces.Read(t.Context(), w.organization, "one")
	must(t, err)
	if tags := strings.Join(workspace.TagNames, " "); tags != "core network" {
		t.Fatalf("tags: %s", tags)
	}
}

func wantWorkspaces(t *testing.T, d directory, want ...string) {
	t.Helper()
	listed := strings.Fields(strings.ReplaceAll(d.ok(t, "workspace", "list"), "*", " "))
	if strings.Join(listed, " ") != strings.Join(want, " ") {
		t.Fatalf("got workspaces %v, want %v", listed, want)
	}
}
