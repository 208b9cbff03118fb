// Package replay repeats what the tfe provider does for a resource, with any client library: create, read, update each
// attribute, unset, import, destroy. After each write it compares the sent values with those that it reads.
package replay

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"purser.example/conformance/harness"
)

// ErrGone is returned by a read when the resource has been deleted, so that the provider would forget it.
var ErrGone = errors.New("gone")

// Fields are the attributes of a resource by their names in the JSON. An attribute that the configuration leaves to the
// server is absent. One that it leaves at the provider's default has that default.
type Fields map[string]any

// With returns a copy with some attributes changed.
func (f Fields) With(changes Fields) Fields {
	changed := maps.Clone(f)
	maps.Copy(changed, changes)
	return changed
}

// Without returns a copy that leaves the named attributes to the server.
func (f Fields) Without(names ...string) Fields {
	changed := maps.Clone(f)
	for _, name := range names {
		delete(changed, name)
	}
	return changed
}

// Answer is the result of one request of the provider.
type Answer struct {
	ID string
	// Fields are the attributes in the answer.
	Fields Fields
	// Whole is the complete resource with relationships. It is nil for an answer of another kind than a read's.
	Whole any
}

// Resource has the requests that the provider sends for one of its resources.
type Resource struct {
	Create func(t *testing.T, config Fields) (Answer, error)
	Read   func(t *testing.T, id string) (Answer, error)
	// Update gets the prior configuration, too, since the provider sends some attributes only when they change. It is nil
	// if every change replaces the resource.
	Update func(t *testing.T, id string, prior, config Fields) (Answer, error)
	// Imports find the id from the text that a person types, by the kind of text.
	Imports map[string]func(t *testing.T, id string, config Fields) (string, error)
	Destroy func(t *testing.T, id string) error
	// Changing names the fields of Whole that differ between any two answers: times of change, texts shown once.
	Changing []string
}

// Step is a configuration to apply to a resource.
type Step struct {
	Name   string
	Config Fields
	// Refused is a word that the refusal must contain. It is empty if the server must accept the configuration.
	Refused string
	// MayRefuse lists words, one of which a refusal must contain. Used if both accepting and refusing are right.
	MayRefuse []string
}

// Difference is an attribute that reads back with another value: the provider would plan the same change for ever.
type Difference struct {
	Dialect   string   `json:"dialect"`
	Clients   []string `json:"clients"`
	Resource  string   `json:"resource"`
	Attribute string   `json:"attribute"`
	Sent      any      `json:"sent"`
	Read      any      `json:"read"`
	Reason    string   `json:"reason"`
}

func (d Difference) is(other Difference) bool {
	return d.Resource == other.Resource && d.Attribute == other.Attribute && same(d.Sent, other.Sent) && same(d.Read, other.Read)
}

// Replays collects the differences that one client library's replays find, and compares them with differences.json.
type Replays struct {
	client   string
	dialect  string
	mutex    sync.Mutex
	replayed map[string]bool
	found    []Difference
}

// Of starts the collection for a client, such as "go-tfe v1", in the dialect of PURSER_DIALECT.
func Of(client string) *Replays {
	return &Replays{client: client, dialect: harness.Dialect(), replayed: map[string]bool{}}
}

// Dialect is the server's dialect.
func (r *Replays) Dialect() string { return r.dialect }

// Play creates, updates, imports and destroys the resource. After each write it reads and compares.
func (r *Replays) Play(t *testing.T, name string, resource Resource, steps ...Step) {
	t.Helper()
	r.mutex.Lock()
	r.replayed[name] = true
	r.mutex.Unlock()
	created, err := resource.Create(t, steps[0].Config)
	if err != nil {
		t.Fatalf("%s: create: %v", name, err)
	}
	id, config := created.ID, steps[0].Config
	state := r.compare(t, name+", "+steps[0].Name, resource, id, config, created)
	for _, step := range steps[1:] {
		what := name + ", " + step.Name
		answer, err := resource.Update(t, id, config, step.Config)
		if err != nil {
			refusable := slices.Concat(step.MayRefuse, []string{step.Refused})
			if !slices.ContainsFunc(refusable, func(word string) bool { return word != "" && strings.Contains(err.Error(), word) }) {
				t.Fatalf("%s: %v", what, err)
			}
			after, err := resource.Read(t, id)
			if err != nil {
				t.Fatalf("%s: read after the refusal: %v", what, err)
			}
			wantSame(t, what+": what a refused write has left", resource.Changing, state.Fields, after.Fields)
			continue
		}
		if step.Refused != "" {
			t.Fatalf("%s: is not refused", what)
		}
		config = step.Config
		state = r.compare(t, what, resource, id, config, answer)
	}
	for how, find := range resource.Imports {
		what := name + ", import " + how
		found, err := find(t, id, config)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if found != id {
			t.Fatalf("%s: found %s, want %s", what, found, id)
		}
		imported, err := resource.Read(t, found)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		wantSame(t, what, resource.Changing, state.Fields, imported.Fields)
	}
	if err := resource.Destroy(t, id); err != nil {
		t.Fatalf("%s: destroy: %v", name, err)
	}
	if _, err := resource.Read(t, id); !errors.Is(err, ErrGone) {
		t.Fatalf("%s: read after destroy: %v", name, err)
	}
}

// compare reads the resource and notes the differences from the configuration. It fails if the write answered something
// else than the read, or if a second read differs from the first.
func (r *Replays) compare(t *testing.T, what string, resource Resource, id string, config Fields, written Answer) Answer {
	t.Helper()
	read, err := resource.Read(t, id)
	if err != nil {
		t.Fatalf("%s: read: %v", what, err)
	}
	name, _, _ := strings.Cut(what, ", ")
	sent, got := flat(config), flat(read.Fields)
	for _, attribute := range slices.Sorted(maps.Keys(sent)) {
		if same(sent[attribute], got[attribute]) {
			continue
		}
		r.differ(t, what, Difference{Resource: name, Attribute: attribute, Sent: sent[attribute], Read: got[attribute]})
	}
	if written.Whole != nil {
		wantSame(t, what+": the answer to the write and the read", resource.Changing, written.Whole, read.Whole)
	}
	again, err := resource.Read(t, id)
	if err != nil {
		t.Fatalf("%s: second read: %v", what, err)
	}
	wantSame(t, what+": the first and the second read", resource.Changing, read.Fields, again.Fields)
	return read
}

// Compare notes where a data source, which is only read, differs from what is expected.
func (r *Replays) Compare(t *testing.T, name string, want, got Fields) {
	t.Helper()
	r.mutex.Lock()
	r.replayed[name] = true
	r.mutex.Unlock()
	wanted, found := flat(want), flat(got)
	for _, attribute := range slices.Sorted(maps.Keys(wanted)) {
		if !same(wanted[attribute], found[attribute]) {
			r.differ(t, name, Difference{Resource: name, Attribute: attribute, Sent: wanted[attribute], Read: found[attribute]})
		}
	}
}

// differ notes a listed difference, and fails the test for an unlisted one.
func (r *Replays) differ(t *testing.T, what string, found Difference) {
	t.Helper()
	if !slices.ContainsFunc(r.listed(t), found.is) {
		t.Errorf("%s: %s was sent as %v and is read as %v; in the dialect %s this is not in differences.json",
			what, found.Attribute, text(found.Sent), text(found.Read), r.dialect)
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.found = append(r.found, found)
}

// CheckList fails for each listed difference that no longer happens or whose resource is never replayed. It ignores
// resources that the flags of `go test` have excluded.
func (r *Replays) CheckList(t *testing.T, all []string) {
	t.Helper()
	for _, listed := range r.listed(t) {
		if !slices.Contains(all, listed.Resource) {
			t.Errorf("differences.json: nothing replays %s with %s", listed.Resource, r.client)
		}
		if r.replayed[listed.Resource] && !slices.ContainsFunc(r.found, listed.is) {
			t.Errorf("differences.json: %s of %s no longer differs in the dialect %s: take it from the list", listed.Attribute, listed.Resource, r.dialect)
		}
	}
}

// listed returns the differences of this client and dialect.
func (r *Replays) listed(t *testing.T) []Difference {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	content, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "..", "differences.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []Difference
	if err := json.Unmarshal(content, &all); err != nil {
		t.Fatalf("differences.json: %v", err)
	}
	for _, difference := range all {
		if difference.Dialect != "documented" || difference.Reason == "" {
			t.Fatalf("differences.json: %s of %s: only the dialect documented may differ, and for a reason", difference.Attribute, difference.Resource)
		}
	}
	return slices.DeleteFunc(all, func(d Difference) bool {
		return d.Dialect != r.dialect || !slices.Contains(d.Clients, r.client)
	})
}

func wantSame(t *testing.T, what string, changing []string, one, other any) {
	t.Helper()
	first, second := flat(one), flat(other)
	for _, name := range slices.Sorted(maps.Keys(first)) {
		last := name[strings.LastIndex(name, ".")+1:]
		if !same(first[name], second[name]) && !slices.Contains(changing, last) {
			t.Errorf("%s: %s is %s in one and %s in the other", what, name, text(first[name]), text(second[name]))
		}
	}
}

// flat returns the leaves of a JSON value by their paths. Lists count as leaves.
func flat(value any) map[string]any {
	leaves := map[string]any{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		members, isObject := value.(map[string]any)
		if !isObject {
			leaves[path] = value
			return
		}
		for name, member := range members {
			walk(strings.TrimPrefix(path+"."+name, "."), member)
		}
	}
	walk("", decoded(value))
	return leaves
}

func decoded(value any) any {
	var plain any
	if err := json.Unmarshal([]byte(text(value)), &plain); err != nil {
		panic(err)
	}
	return plain
}

func same(one, other any) bool { return reflect.DeepEqual(decoded(one), decoded(other)) }

func text(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}
