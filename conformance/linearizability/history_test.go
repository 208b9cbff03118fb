// Package linearizability records what many clients of a few nodes do to workspaces, and judges whether one order of
// these operations explains every answer.
package linearizability

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	// With more operations on one workspace, or more than eight callers, judging takes too long.
	operations = 1000
	// Workspaces that are recorded at the same time.
	together = 4
	patience = 5 * time.Minute
)

func setting(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set", name)
	}
	return value
}

func number(t *testing.T, name string) int {
	t.Helper()
	value, err := strconv.Atoi(setting(t, name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}

// TestHistories needs the addresses of one or more nodes, an organization with a site administrator's token, and at
// most eight tokens of teams that may write workspaces. There is one history for each of PURSER_WORKSPACES.
func TestHistories(t *testing.T) {
	addresses := strings.Split(setting(t, "PURSER_ADDRESSES"), ",")
	seed := uint64(number(t, "PURSER_HISTORY_SEED"))
	tokens := strings.Split(setting(t, "PURSER_CALLERS"), ",")
	world := newWorld(addresses, setting(t, "PURSER_TOKEN"), setting(t, "PURSER_ORGANIZATION"), tokens)
	begin := time.Now()
	workspaces := number(t, "PURSER_WORKSPACES")
	count := &counter{t: t, begin: begin, workspaces: workspaces}
	// A place for each workspace that is being recorded.
	places := make(chan struct{}, together)
	var recorders sync.WaitGroup
	for workspace := range workspaces {
		places <- struct{}{}
		recorders.Go(func() {
			defer func() { <-places }()
			id, err := world.createWorkspace()
			if err != nil {
				t.Error(err)
				return
			}
			history := record(t, world, id, workspace, seed, begin)
			// No operation is about two workspaces, so each history is judged alone, and a run that is ended has judged some.
			judge(t, history, seed)
			count.add(history)
		})
	}
	recorders.Wait()
}

func judge(t *testing.T, history []porcupine.Operation, seed uint64) {
	result, info := porcupine.CheckOperationsVerbose(model, history, patience)
	if result == porcupine.Ok {
		return
	}
	if file := os.Getenv("PURSER_HISTORY_FILE"); file != "" {
		if err := porcupine.VisualizePath(model, info, file); err != nil {
			t.Error(err)
		}
	}
	t.Errorf("a history is %s: PURSER_HISTORY_SEED=%d, PURSER_HISTORY_FILE=FILE.html draws it", result, seed)
}

// counter reports how much was judged: every hundred workspaces, and at the end.
type counter struct {
	t          *testing.T
	begin      time.Time
	workspaces int
	mutex      sync.Mutex
	judged     int
	operations int
	unknown    int
}

func (c *counter) add(history []porcupine.Operation) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.judged++
	c.operations += len(history)
	for _, operation := range history {
		if operation.Return == math.MaxInt64 {
			c.unknown++
		}
	}
	if c.judged%100 == 0 || c.judged == c.workspaces {
		c.t.Logf("conformance: %d of %d workspaces judged: %d operations in %v, of which %d have an unknown outcome",
			c.judged, c.workspaces, c.operations, time.Since(c.begin).Round(time.Second), c.unknown)
	}
}

// A history with a wrong answer must be found, or this test could not fail.
func TestWrongAnswerIsFound(t *testing.T) {
	history := []porcupine.Operation{
		{ClientId: 0, Input: input{kind: lock, caller: 0}, Output: output{status: done}, Call: 0, Return: 1},
		{ClientId: 1, Input: input{kind: lock, caller: 1}, Output: output{status: refused}, Call: 2, Return: 3},
		{ClientId: 0, Input: input{kind: push, caller: 0, serial: 1}, Output: output{status: done}, Call: 4, Return: 5},
		{ClientId: 1, Input: input{kind: readSerial, caller: 1}, Output: output{status: done, serial: 1}, Call: 6, Return: 7},
	}
	if !porcupine.CheckOperations(model, history) {
		t.Error("a correct history is refused")
	}
	stale := append([]porcupine.Operation{}, history...)
	stale[3].Output = output{status: done, serial: 0}
	if porcupine.CheckOperations(model, stale) {
		t.Error("a stale read is not found")
	}
	twice := append([]porcupine.Operation{}, history...)
	twice[1].Output = output{status: done}
	if porcupine.CheckOperations(model, twice) {
		t.Error("two holders of one lock are not found")
	}
}

// recorder collects the operations of one workspace.
type recorder struct {
	mutex   sync.Mutex
	history []porcupine.Operation
	clients int
	// The newest serial that any client has seen.
	serial int
}

func (r *recorder) add(operation porcupine.Operation) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.history = append(r.history, operation)
	r.serial = max(r.serial, operation.Output.(output).serial)
}

func (r *recorder) newest() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.serial
}

// Each client of porcupine has one operation at a time, so after an unknown outcome a caller is a new client.
func (r *recorder) newClient() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.clients++
	return r.clients - 1
}

func record(t *testing.T, world *world, id string, workspace int, seed uint64, begin time.Time) []porcupine.Operation {
	r := &recorder{}
	var callers sync.WaitGroup
	for caller := range world.tokens {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(workspace*len(world.tokens)+caller)))
			client := r.newClient()
			for done := 0; done < operations/len(world.tokens); {
				asked := choose(random, workspace, caller, r.newest())
				call := time.Since(begin)
				answer, err := world.ask(id, asked)
				operation := porcupine.Operation{
					ClientId: client, Input: asked, Output: answer,
					Call: call.Nanoseconds(), Return: time.Since(begin).Nanoseconds(),
				}
				switch {
				case err != nil:
					t.Errorf("%v: %v", asked, err)
					return
				case answer.status == notDone:
					// The server is away for a moment. The operation had no effect, so it does not count.
					time.Sleep(20 * time.Millisecond)
				case answer.status == unknown:
					operation.Return = math.MaxInt64
					r.add(operation)
					done++
					client = r.newClient()
				default:
					r.add(operation)
					done++
				}
			}
		})
	}
	callers.Wait()
	return r.history
}

func choose(random *rand.Rand, workspace, caller, newest int) input {
	asked := input{workspace: workspace, caller: caller}
	switch dice := random.IntN(100); {
	case dice < 25:
		asked.kind = lock
	case dice < 50:
		asked.kind = push
		// Sometimes one that is taken, or that leaves a gap.
		asked.serial = max(1, newest+[]int{1, 1, 1, 1, 0, 2}[random.IntN(6)])
	case dice < 68:
		asked.kind = unlock
	case dice < 84:
		asked.kind = readSerial
	default:
		asked.kind = readOutput
	}
	return asked
}
