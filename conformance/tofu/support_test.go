// Package tofu drives a running Purser with the OpenTofu command line, built from this module's tool directive, and logs
// in with Terraform's, too.
//
// go-tfe prepares the data of a scenario. It is the older version that OpenTofu itself is built with.
package tofu

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness"
)

// hostname is the host in PURSER_TOFU_CONFIG.
const hostname = "purser.example.com"

// The environment variables with the paths of the commands.
const (
	openTofu  = "PURSER_TOFU"
	terraform = "PURSER_TERRAFORM"
)

// world is a new organization for one test, with a client of its owner.
type world struct {
	server       harness.Server
	owner        harness.User
	organization string
	client       *tfe.Client
}

func newWorld(t *testing.T) world {
	t.Helper()
	t.Parallel()
	server := harness.Running(t)
	owner := server.NewUser(t, "owner")
	return world{
		server:       server,
		owner:        owner,
		organization: server.NewOrganization(t, owner),
		client:       newClient(t, server, owner.Token),
	}
}

func newClient(t *testing.T, server harness.Server, token string) *tfe.Client {
	t.Helper()
	client, err := tfe.NewClient(&tfe.Config{Address: server.Address, Token: token})
	must(t, err)
	return client
}

// newMember creates a member of the organization, and a team with only that member.
func (w world) newMember(t *testing.T, name string) (harness.User, *tfe.Team) {
	t.Helper()
	member := w.server.NewUser(t, name)
	w.server.Join(t, w.organization, w.owner, member)
	team, err := w.client.Teams.Create(t.Context(), w.organization, tfe.TeamCreateOptions{Name: tfe.String(name + "s")})
	must(t, err)
	must(t, w.client.TeamMembers.Add(t.Context(), team.ID, tfe.TeamMemberAddOptions{Usernames: []string{member.Username}}))
	return member, team
}

// grant gives the team access to a workspace that a scenario has created.
func (w world) grant(t *testing.T, team *tfe.Team, workspace string, options tfe.TeamAccessAddOptions) {
	t.Helper()
	found, err := w.client.Workspaces.Read(t.Context(), w.organization, workspace)
	must(t, err)
	options.Team, options.Workspace = team, found
	_, err = w.client.TeamAccess.Add(t.Context(), options)
	must(t, err)
}

// readOutputs is the access that this project exists for.
func readOutputs() tfe.TeamAccessAddOptions {
	return tfe.TeamAccessAddOptions{
		Access:        tfe.Access(tfe.AccessCustom),
		StateVersions: tfe.StateVersionsPermission(tfe.StateVersionsPermissionReadOutputs),
	}
}

// directory is a working directory with a configuration, used by one person.
type directory struct {
	path        string
	environment []string
	// program names the environment variable with the path of the command.
	program string
}

// newDirectory writes the configuration files, and settings that keep tofu on this machine's loopback.
func (w world) newDirectory(t *testing.T, user harness.User, files map[string]string) directory {
	t.Helper()
	path := t.TempDir()
	for name, content := range files {
		must(t, os.WriteFile(filepath.Join(path, name), []byte(content), 0o600))
	}
	settings := filepath.Join(t.TempDir(), "tofu.rc")
	content := strings.ReplaceAll(fromEnvironment(t, "PURSER_TOFU_CONFIG"), w.server.Address, w.server.Through(t, "OpenTofu"))
	must(t, os.WriteFile(settings, []byte(content), 0o600))
	return directory{
		path:    path,
		program: openTofu,
		environment: []string{
			"PATH=" + os.Getenv("PATH"),
			"HOME=" + t.TempDir(),
			"CHECKPOINT_DISABLE=1",
			"TF_CLI_CONFIG_FILE=" + settings,
			"TF_IN_AUTOMATION=1",
			// Each run is short, and a fifth faster without garbage collection.
			"GOGC=off",
			"TF_TOKEN_" + strings.ReplaceAll(hostname, ".", "_") + "=" + user.Token,
			// Nothing listens there, so a request that leaves loopback fails.
			"HTTP_PROXY=http://127.0.0.1:9",
			"HTTPS_PROXY=http://127.0.0.1:9",
		},
	}
}

// with returns the same directory with one more environment variable.
func (d directory) with(variable string) directory {
	d.environment = append(append([]string{}, d.environment...), variable)
	return d
}

// colors matches the color codes of a terminal. OpenTofu prints them even if the output is no terminal.
var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

// answer is the output of one run of tofu, without colors.
type answer struct {
	command string
	stdout  string
	stderr  string
	failed  bool
}

// command prepares one run of tofu, which may also run in the background.
func (d directory) command(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), fromEnvironment(t, d.program), arguments...)
	command.Dir = d.path
	command.Env = d.environment
	return command
}

func fromEnvironment(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is missing: `npm run conformance` sets it", name)
	}
	return value
}

// run runs tofu to its end. It types one of the lines whenever tofu asks for a value.
func (d directory) run(t *testing.T, lines []string, arguments ...string) answer {
	t.Helper()
	return d.watched(t, lines, func(string, *os.Process) bool { return true }, arguments...)
}

// watched does the same, and shows what tofu has printed until it has been seen.
func (d directory) watched(t *testing.T, lines []string, see watcher, arguments ...string) answer {
	t.Helper()
	command := d.command(t, arguments...)
	keyboard, err := command.StdinPipe()
	must(t, err)
	stdout := &dialogue{keyboard: keyboard, lines: lines}
	stdout.see = func(screen string) bool { return see(screen, command.Process) }
	var stderr bytes.Buffer
	command.Stdout, command.Stderr = stdout, &stderr
	err = command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return answer{
		command: filepath.Base(command.Path) + " " + strings.Join(arguments, " "),
		stdout:  colors.ReplaceAllString(stdout.screen.String(), ""),
		stderr:  colors.ReplaceAllString(stderr.String(), ""),
		failed:  err != nil,
	}
}

// watcher looks at what a command has printed, until it returns true.
type watcher func(screen string, process *os.Process) bool

// dialogue collects the output of tofu, and types the next line at each question. Each question discards earlier input,
// so lines cannot be typed ahead. After the last line it closes the input.
type dialogue struct {
	screen   bytes.Buffer
	keyboard io.WriteCloser
	lines    []string
	typed    int
	see      func(screen string) bool
	isSeen   bool
}

func (d *dialogue) Write(output []byte) (int, error) {
	d.screen.Write(output)
	if !d.isSeen {
		d.isSeen = d.see(colors.ReplaceAllString(d.screen.String(), ""))
	}
	for asked := bytes.Count(d.screen.Bytes(), []byte("Enter a value:")); d.typed < asked; d.typed++ {
		if d.typed >= len(d.lines) {
			d.keyboard.Close()
		} else if _, err := io.WriteString(d.keyboard, d.lines[d.typed]+"\n"); err != nil {
			return 0, err
		}
	}
	return len(output), nil
}

// ok runs tofu, which must succeed, and returns its standard output.
func (d directory) ok(t *testing.T, arguments ...string) string {
	t.Helper()
	return d.okAnswering(t, nil, arguments...)
}

// okAnswering is ok with lines to type.
func (d directory) okAnswering(t *testing.T, lines []string, arguments ...string) string {
	t.Helper()
	got := d.run(t, lines, arguments...)
	if got.failed {
		t.Fatalf("%s failed:\n%s%s", got.command, got.stdout, got.stderr)
	}
	return got.stdout
}

// refused runs tofu, which must fail with the given words. Line breaks in error boxes do not count.
func (d directory) refused(t *testing.T, words string, arguments ...string) {
	t.Helper()
	got := d.run(t, nil, arguments...)
	if !got.failed {
		t.Fatalf("%s succeeded:\n%s", got.command, got.stdout)
	}
	if !strings.Contains(unwrapped(got.stderr), words) {
		t.Fatalf("%s failed without saying %q:\n%s", got.command, words, got.stderr)
	}
}

func unwrapped(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(text)), " ")
}

// backendBlock returns the block that stores a configuration's state in one workspace.
func (w world) backendBlock(kind, workspaces string) string {
	opening := "cloud {"
	if kind == "remote" {
		opening = `backend "remote" {`
	}
	return fmt.Sprintf("terraform {\n  %s\n    hostname     = %q\n    organization = %q\n    workspaces { %s }\n  }\n}\n",
		opening, hostname, w.organization, workspaces)
}

// eachKind runs the scenario with both backends that OpenTofu has for this kind of server.
func eachKind(t *testing.T, scenario func(t *testing.T, kind string)) {
	for _, kind := range []string{"cloud", "remote"} {
		t.Run(kind, func(t *testing.T) { scenario(t, kind) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func wantText(t *testing.T, got, text string) {
	t.Helper()
	if !strings.Contains(got, text) {
		t.Fatalf("%q is missing in:\n%s", text, got)
	}
}
