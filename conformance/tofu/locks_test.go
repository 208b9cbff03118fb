package tofu

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hashicorp/go-tfe"
)

func TestHeldLockStopsAnApplyUntilItIsForcedOpen(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		w := newWorld(t)
		files := map[string]string{"main.tf": mainFile, "backend.tf": w.backendBlock(kind, `name = "network"`)}
		owner := w.newDirectory(t, w.owner, files)
		owner.ok(t, "init")
		workspace, err := w.client.Workspaces.Read(t.Context(), w.organization, "network")
		must(t, err)
		_, err = w.client.Workspaces.Lock(t.Context(), workspace.ID, tfe.WorkspaceLockOptions{Reason: tfe.String("maintenance")})
		must(t, err)

		user, team := w.newMember(t, "writer")
		w.grant(t, team, "network", tfe.TeamAccessAddOptions{Access: tfe.Access(tfe.AccessWrite)})
		writer := w.newDirectory(t, user, files)
		writer.ok(t, "init")
		lockID := w.organization + "/network"
		writer.refused(t, fmt.Sprintf("workspace already locked (lock ID: %q)", lockID), "apply", "-auto-approve")
		if after, err := w.client.Workspaces.ReadByID(t.Context(), workspace.ID); err != nil || !after.Locked {
			t.Fatalf("the refused apply has touched the lock: %v %v", after, err)
		}
		writer.refused(t, "resource not found", "force-unlock", "-force", lockID)
		owner.refused(t, "does not match", "force-unlock", "-force", w.organization+"/other")
		owner.ok(t, "force-unlock", "-force", lockID)
		owner.refused(t, "workspace already unlocked", "force-unlock", "-force", lockID)
		wantText(t, writer.ok(t, "apply", "-auto-approve"), "1 added")
	})
}

func TestSecondApplyIsRefusedWhileTheFirstRuns(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		w := newWorld(t)
		started, proceed := newPipe(t, "started"), newPipe(t, "proceed")
		files := map[string]string{
			"main.tf": fmt.Sprintf(`
resource "terraform_data" "slow" {
  provisioner "local-exec" { command = "echo > %s; read answer < %s" }
}
output "done" { value = terraform_data.slow.id }
`, started, proceed),
			"backend.tf": w.backendBlock(kind, `name = "network"`),
		}
		first, second := w.newDirectory(t, w.owner, files), w.newDirectory(t, w.owner, files)
		first.ok(t, "init")
		second.ok(t, "init")
		running := first.command(t, "apply", "-auto-approve")
		must(t, running.Start())
		_, err := os.ReadFile(started)
		must(t, err)
		second.refused(t, "workspace already locked", "apply", "-auto-approve")
		second.refused(t, "workspace already locked", "plan")
		must(t, os.WriteFile(proceed, []byte("\n"), 0o600))
		must(t, running.Wait())
		wantText(t, second.ok(t, "plan"), "No changes")
	})
}

// newPipe creates a named pipe. Opening it waits for the other side, so the test needs no timing.
func newPipe(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, syscall.Mkfifo(path, 0o600))
	return path
}
