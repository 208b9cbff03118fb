package v1

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness/replay"
)

// What the tfe provider up to 0.79 does for each of its resources, by the provider's resource names.
var providerResources = map[string]func(t *testing.T, w world, all *replay.Replays){
	"tfe_team":                        replayTeam,
	"data tfe_team, tfe_teams":        replayTeamLists,
	"tfe_team_member":                 replayTeamMember,
	"tfe_team_members":                replayTeamMembers,
	"tfe_team_organization_member":    replayTeamOrganizationMember,
	"tfe_team_organization_members":   replayTeamOrganizationMembers,
	"tfe_team_token":                  replayTeamToken,
	"tfe_team_token, described":       replayDescribedTeamToken,
	"tfe_team_token, ephemeral":       replayEphemeralTeamToken,
	"tfe_team_access":                 replayTeamAccess,
	"tfe_team_project_access":         replayTeamProjectAccess,
	"tfe_organization":                replayOrganization,
	"tfe_organization_membership":     replayOrganizationMembership,
	"data tfe_organization_members":   replayOrganizationMembers,
	"tfe_organization_token":          replayOrganizationToken,
	"tfe_audit_trail_token":           replayAuditTrailToken,
	"tfe_org_max_token_ttl_policy":    replayTokenTTLPolicy,
	"tfe_workspace":                   replayWorkspace,
	"tfe_workspace_settings":          replayWorkspaceSettings,
	"data tfe_workspace_ids":          replayWorkspaceIDs,
	"tfe_project":                     replayProject,
	"tfe_workspace, locked or in use": replayWorkspaceInUse,
	"data tfe_outputs":                replayOutputs,
}

func TestReplayOfTheProvider(t *testing.T) {
	t.Parallel()
	all := replay.Of("go-tfe v1")
	t.Run("resources", func(t *testing.T) {
		for name, play := range providerResources {
			t.Run(name, func(t *testing.T) { play(t, newWorld(t), all) })
		}
	})
	all.CheckList(t, slices.Collect(maps.Keys(providerResources)))
}

// options fills a go-tfe options struct with those attributes of a configuration that it has fields for.
func options[T any](t *testing.T, config replay.Fields) T {
	t.Helper()
	var filled T
	target := reflect.ValueOf(&filled).Elem()
	for i := range target.NumField() {
		name, isAttribute := strings.CutPrefix(target.Type().Field(i).Tag.Get("jsonapi"), "attr,")
		name, _, _ = strings.Cut(name, ",")
		value, isGiven := config[name]
		switch field := target.Field(i); {
		case !isAttribute || !isGiven:
		case field.Kind() == reflect.Map:
			field.Set(nullable(field.Type(), value))
		default:
			encoded, err := json.Marshal(value)
			must(t, err)
			must(t, json.Unmarshal(encoded, field.Addr().Interface()))
		}
	}
	return filled
}

// nullable makes the map with which this library distinguishes null from absent.
func nullable(kind reflect.Type, value any) reflect.Value {
	attribute := reflect.MakeMap(kind)
	if value == nil {
		attribute.SetMapIndex(reflect.ValueOf(false), reflect.Zero(kind.Elem()))
	} else {
		attribute.SetMapIndex(reflect.ValueOf(true), reflect.ValueOf(value))
	}
	return attribute
}

// answer returns what the library has decoded: attributes by name, and relationships as ids.
func answer(id string, resource any) replay.Answer {
	attributes, relationships := replay.Fields{}, map[string]any{}
	value := reflect.ValueOf(resource).Elem()
	for i := range value.NumField() {
		kind, rest, _ := strings.Cut(value.Type().Field(i).Tag.Get("jsonapi"), ",")
		name, _, _ := strings.Cut(rest, ",")
		switch kind {
		case "attr":
			attributes[name] = plain(value.Field(i))
		case "relation":
			relationships[name] = identifiers(value.Field(i))
		case "links":
			relationships["links"] = value.Field(i).Interface()
		}
	}
	return replay.Answer{ID: id, Fields: attributes, Whole: map[string]any{"attributes": attributes, "relationships": relationships}}
}

func plain(value reflect.Value) any {
	if moment, isTime := value.Interface().(time.Time); isTime {
		return moment.UTC().Format(time.RFC3339Nano)
	}
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() {
			return nil
		}
		return plain(value.Elem())
	case reflect.Map:
		for _, key := range value.MapKeys() {
			if key.Kind() == reflect.Bool && key.Bool() {
				return plain(value.MapIndex(key))
			}
		}
		return nil
	case reflect.Struct:
		members := map[string]any{}
		for i := range value.NumField() {
			name, isAttribute := strings.CutPrefix(value.Type().Field(i).Tag.Get("jsonapi"), "attr,")
			name, _, _ = strings.Cut(name, ",")
			if isAttribute {
				members[name] = plain(value.Field(i))
			}
		}
		return members
	default:
		return value.Interface()
	}
}

func identifiers(value reflect.Value) any {
	switch {
	case value.Kind() == reflect.Slice:
		ids := []any{}
		for i := range value.Len() {
			ids = append(ids, identifiers(value.Index(i)))
		}
		return ids
	case value.Kind() == reflect.Pointer && value.IsNil():
		return nil
	default:
		for i := range value.Elem().NumField() {
			if strings.HasPrefix(value.Elem().Type().Field(i).Tag.Get("jsonapi"), "primary,") {
				return value.Elem().Field(i).Interface()
			}
		}
		return nil
	}
}

// gone converts this library's "not found" into replay.ErrGone.
func gone(err error) error {
	if errors.Is(err, tfe.ErrResourceNotFound) {
		return replay.ErrGone
	}
	return err
}

// unlessGone accepts "not found" as the answer to a delete, like the provider.
func unlessGone(err error) error {
	if errors.Is(err, tfe.ErrResourceNotFound) {
		return nil
	}
	return err
}

// reading converts the answer of a read request into a replay.Answer.
func reading[T any](id string, resource *T, err error) (replay.Answer, error) {
	if err != nil {
		return replay.Answer{}, gone(err)
	}
	return answer(id, resource), nil
}
