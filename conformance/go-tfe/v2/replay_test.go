package v2

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-tfe/v2"
	"github.com/microsoft/kiota-abstractions-go/serialization"
	kiotajson "github.com/microsoft/kiota-serialization-json-go"

	"purser.example/conformance/harness/replay"
)

// The tfe provider from 0.80 on handles these resources with this library. The others are replayed with go-tfe v1.
var providerResources = map[string]func(t *testing.T, w world, all *replay.Replays){
	"tfe_team":                      replayTeam,
	"data tfe_team, tfe_teams":      replayTeamLists,
	"tfe_team_member":               replayTeamMember,
	"tfe_team_members":              replayTeamMembers,
	"tfe_team_organization_member":  replayTeamOrganizationMember,
	"tfe_team_organization_members": replayTeamOrganizationMembers,
	"tfe_team_token":                replayTeamToken,
	"tfe_team_token, described":     replayDescribedTeamToken,
	"tfe_team_access":               replayTeamAccess,
	"tfe_team_project_access":       replayTeamProjectAccess,
	"tfe_project":                   replayProject,
	"tfe_organization_token":        replayOrganizationToken,
}

func TestReplayOfTheProvider(t *testing.T) {
	t.Parallel()
	all := replay.Of("go-tfe v2")
	t.Run("resources", func(t *testing.T) {
		for name, play := range providerResources {
			t.Run(name, func(t *testing.T) { play(t, newWorld(t), all) })
		}
	})
	all.CheckList(t, slices.Collect(maps.Keys(providerResources)))
}

// body decodes JSON into this library's type of a request body.
func body[T serialization.Parsable](t *testing.T, factory serialization.ParsableFactory, content any) T {
	t.Helper()
	encoded, err := json.Marshal(content)
	must(t, err)
	node, err := kiotajson.NewJsonParseNode(encoded)
	must(t, err)
	parsed, err := node.GetObjectValue(factory)
	must(t, err)
	return parsed.(T)
}

// resourceBody returns the usual document of one resource.
func resourceBody[T serialization.Parsable](t *testing.T, factory serialization.ParsableFactory, kind string, attributes replay.Fields, relationships map[string]any) T {
	t.Helper()
	data := map[string]any{"type": kind, "attributes": attributes}
	if relationships != nil {
		data["relationships"] = relationships
	}
	return body[T](t, factory, map[string]any{"data": data})
}

func to(kind, id string) map[string]any {
	return map[string]any{"data": map[string]any{"type": kind, "id": id}}
}

func toAll(kind string, ids []string) map[string]any {
	list := []any{}
	for _, id := range ids {
		list = append(list, map[string]any{"type": kind, "id": id})
	}
	return map[string]any{"data": list}
}

// notOfTheWire lists methods of every model that return nothing from the answer.
var notOfTheWire = []string{"GetBackingStore", "GetFieldDeserializers", "GetAdditionalData", "GetTypeEscaped", "GetIsComposedType"}

// decoded returns everything that the library has decoded from an answer, by the names in the JSON, including members
// without a method of their own.
func decoded(value reflect.Value) any {
	if !value.IsValid() || (slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map}, value.Kind()) && value.IsNil()) {
		return nil
	}
	switch plain := value.Interface().(type) {
	case *time.Time:
		return plain.UTC().Format(time.RFC3339Nano)
	case serialization.UntypedNodeable:
		return written(plain)
	case serialization.Parsable:
		return members(reflect.ValueOf(plain))
	case fmt.Stringer:
		return plain.String()
	}
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		return decoded(value.Elem())
	case reflect.Slice:
		list := []any{}
		for i := range value.Len() {
			list = append(list, decoded(value.Index(i)))
		}
		return list
	default:
		return value.Interface()
	}
}

// written returns the JSON of a value that the library has no model for.
func written(node serialization.UntypedNodeable) string {
	writer := kiotajson.NewJsonSerializationWriter()
	err := writer.WriteObjectValue("", node)
	content, contentErr := writer.GetSerializedContent()
	if err = errors.Join(err, contentErr); err != nil {
		panic(err)
	}
	return string(content)
}

func members(model reflect.Value) map[string]any {
	named := map[string]any{}
	if holder, isHolder := model.Interface().(interface{ GetAdditionalData() map[string]any }); isHolder {
		for name, value := range holder.GetAdditionalData() {
			named[name] = decoded(reflect.ValueOf(value))
		}
	}
	for i := range model.NumMethod() {
		method := model.Type().Method(i)
		name, isGetter := strings.CutPrefix(method.Name, "Get")
		if isGetter && method.Type.NumIn() == 1 && method.Type.NumOut() == 1 && !slices.Contains(notOfTheWire, method.Name) {
			named[onTheWire(name)] = decoded(model.Method(i).Call(nil)[0])
		}
	}
	return named
}

var capitals = regexp.MustCompile(`([a-z0-9])([A-Z])`)

func onTheWire(name string) string {
	return strings.ToLower(capitals.ReplaceAllString(name, "$1-$2"))
}

// reading converts the answer of a read request into a replay.Answer.
func reading(envelope serialization.Parsable, err error) (replay.Answer, error) {
	if err != nil {
		return replay.Answer{}, gone(err)
	}
	data, _ := members(reflect.ValueOf(envelope))["data"].(map[string]any)
	id, _ := data["id"].(string)
	attributes, _ := data["attributes"].(map[string]any)
	return replay.Answer{ID: id, Fields: attributes, Whole: data}, nil
}

// gone converts this library's "not found" into replay.ErrGone, and adds the details to other errors.
func gone(err error) error {
	var answer *tfe.APIError
	switch {
	case errors.Is(err, tfe.ErrNotFound):
		return replay.ErrGone
	case errors.As(err, &answer):
		return fmt.Errorf("%w: %v", answer, answer.Details)
	default:
		return err
	}
}

func unlessGone(err error) error {
	if errors.Is(err, tfe.ErrNotFound) {
		return nil
	}
	return err
}

func sorted(words ...string) []string {
	slices.Sort(words)
	return words
}
