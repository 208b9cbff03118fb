package tofu

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hashicorp/go-tfe"
)

func TestReaderReadsOutputsAndNeverTheState(t *testing.T) {
	w := newWorld(t)
	backend := w.backendBlock("cloud", `name = "network"`)
	owner := w.newDirectory(t, w.owner, map[string]string{"main.tf": mainFile, "backend.tf": backend})
	owner.ok(t, "init")
	owner.ok(t, "apply", "-auto-approve")
	user, team := w.newMember(t, "reader")
	w.grant(t, team, "network", readOutputs())
	reader := w.newDirectory(t, user, map[string]string{"backend.tf": backend})
	reader.ok(t, "init")

	wantOutputs(t, reader.ok(t, "output", "-json"), outputsJSON)
	wantText(t, reader.ok(t, "output"), "secret = <sensitive>")
	wantText(t, reader.ok(t, "output", "-raw", "secret"), "hunter2")
	wantText(t, reader.ok(t, "output", "-json", "secret_object"), `"password":"hunter2"`)
	wantNoState(t, reader)
	if list := reader.run(t, nil, "state", "list"); list.stdout != "" {
		t.Fatalf("the reader has listed resources: %s", list.stdout)
	}
	reader.refused(t, "resource not found", "apply", "-auto-approve")

	older := w.newDirectory(t, user, map[string]string{"backend.tf": w.backendBlock("remote", `name = "network"`)})
	older.ok(t, "init")
	wantNoState(t, older)
}

func TestReaderLosesOutputsWithTheGrant(t *testing.T) {
	w := newWorld(t)
	backend := w.backendBlock("cloud", `name = "network"`)
	owner := w.newDirectory(t, w.owner, map[string]string{"main.tf": mainFile, "backend.tf": backend})
	owner.ok(t, "init")
	owner.ok(t, "apply", "-auto-approve")
	user, team := w.newMember(t, "reader")
	w.grant(t, team, "network", readOutputs())
	reader := w.newDirectory(t, user, map[string]string{"backend.tf": backend})
	reader.ok(t, "init")
	reader.ok(t, "output", "-json")
	must(t, w.client.Teams.Delete(t.Context(), team.ID))
	if got := reader.run(t, nil, "output", "-json"); !got.failed && got.stdout != "{}\n" {
		t.Fatalf("outputs after the team was deleted:\n%s", got.stdout)
	}
}

func TestOutsidersNeitherReadNorCreate(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		w := newWorld(t)
		files := map[string]string{"main.tf": mainFile, "backend.tf": w.backendBlock(kind, `name = "network"`)}
		plain, _ := w.newMember(t, "plain")
		w.newDirectory(t, plain, files).refused(t, "resource not found", "init")
		stranger := w.server.NewUser(t, "stranger")
		w.newDirectory(t, stranger, files).refused(t, w.organization, "init")
		stranger.Token = "no-such-token"
		w.newDirectory(t, stranger, files).refused(t, "unauthorized", "init")
		_, err := w.client.Workspaces.Read(t.Context(), w.organization, "network")
		if !errors.Is(err, tfe.ErrResourceNotFound) {
			t.Fatalf("the workspace exists now: %v", err)
		}
	})
}

func TestRemoteStateIsReadWithTheRightToReadStates(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		w := newWorld(t)
		owner := w.newDirectory(t, w.owner, map[string]string{
			"main.tf":    mainFile,
			"backend.tf": w.backendBlock("cloud", `name = "network"`),
		})
		owner.ok(t, "init")
		owner.ok(t, "apply", "-auto-approve")
		// With cloud, the workspace has to be named here, too.
		selection := map[string]string{"cloud": `workspace = "network"`}
		consumer := map[string]string{"main.tf": fmt.Sprintf(`
data "terraform_remote_state" "network" {
  backend = %q
  %s
  config = {
    hostname     = %q
    organization = %q
    workspaces   = { name = "network" }
  }
}
output "vpc" { value = data.terraform_remote_state.network.outputs.object.id }
`, kind, selection[kind], hostname, w.organization)}

		reader, readers := w.newMember(t, "reader")
		w.grant(t, readers, "network", tfe.TeamAccessAddOptions{Access: tfe.Access(tfe.AccessRead)})
		allowed := w.newDirectory(t, reader, consumer)
		allowed.ok(t, "init")
		wantText(t, allowed.ok(t, "plan"), `vpc = "vpc-1"`)

		outputs, outputReaders := w.newMember(t, "output-reader")
		w.grant(t, outputReaders, "network", readOutputs())
		denied := w.newDirectory(t, outputs, consumer)
		denied.ok(t, "init")
		denied.refused(t, "Unable to find remote state", "plan")
	})
}
