package v1

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/go-tfe"

	"purser.example/conformance/harness"
)

// The services of the client that deal with what Purser stores.
var services = []string{
	"AuditTrails", "OrganizationMemberships", "OrganizationTags", "OrganizationTokenTTLPolicies", "OrganizationTokens", "Organizations",
	"Projects", "StateVersionOutputs", "StateVersions", "TeamAccess", "TeamMembers", "TeamProjectAccess", "TeamTokens",
	"Teams", "UserTokens", "Users", "Workspaces",
}

// If a newer client adds a method, that method must work or be listed among those that find nothing.
func TestEveryMethodOfTheClientIsCalled(t *testing.T) {
	called := calledMethods(t)
	client := reflect.TypeFor[tfe.Client]()
	for _, service := range services {
		field, isThere := client.FieldByName(service)
		if !isThere {
			t.Errorf("the client has no service %s", service)
			continue
		}
		for method := range field.Type.Methods() {
			if !called[service+"."+method.Name] {
				t.Errorf("no program calls %s.%s", service, method.Name)
			}
		}
	}
}

// calledMethods parses this package: `client.Teams.Create(…)` is a call of Teams.Create.
func calledMethods(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	must(t, err)
	called := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		must(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			if call, isCall := node.(*ast.CallExpr); isCall {
				if method, isSelector := call.Fun.(*ast.SelectorExpr); isSelector {
					if service, isField := method.X.(*ast.SelectorExpr); isField {
						called[service.Sel.Name+"."+method.Sel.Name] = true
					}
				}
			}
			return true
		})
	}
	return called
}

// The structures that the client decodes, including several for one type.
var decoded = []any{
	tfe.Organization{}, tfe.Entitlements{}, tfe.OrganizationMembership{}, tfe.User{}, tfe.Team{}, tfe.TeamToken{},
	tfe.OrganizationToken{}, tfe.UserToken{}, tfe.TeamAccess{}, tfe.TeamProjectAccess{}, tfe.Workspace{},
	tfe.WorkspaceOutputs{}, tfe.Project{}, tfe.StateVersion{}, tfe.StateVersionOutput{}, tfe.Tag{}, tfe.OrganizationTag{},
	tfe.TagBinding{}, tfe.EffectiveTagBinding{}, tfe.OrganizationTokenTTLPolicy{},
}

// Fields that the client decodes but Purser does not send, and why.
var notSent = map[string]string{
	"organization-token-ttl-policies.created-at":             "every organization has had them since it was made",
	"organization-token-ttl-policies.updated-at":             "the audit trail says when",
	"organizations.relationships.data-retention-policy":      "there are none",
	"organizations.relationships.primary-hyok-configuration": "there is none",
	"state-versions.relationships.hyok-encrypted-data-key":   "there is none",
	"teams.is-unified":                                      "the documentation has none",
	"teams.scim-group-name":                                 "there is no SCIM",
	"teams.scim-linked":                                     "there is no SCIM",
	"teams.scim-sync-paused":                                "there is no SCIM",
	"teams.scim-updated-at":                                 "there is no SCIM",
	"users.is-scim-managed":                                 "there is no SCIM",
	"users.scim-updated-at":                                 "there is no SCIM",
	"users.scim-username":                                   "there is no SCIM",
	"workspaces.relationships.data-retention-policy":        "there are none",
	"workspaces.relationships.hyok-data-key-for-encryption": "there is none",
	"workspaces.relationships.tag-bindings":                 "workspaces/:id/tag-bindings lists them",
	"workspaces.relationships.tags":                         "tag-names has them",
	"workspaces.relationships.vars":                         "nothing runs on the server",
}

func TestEveryAttributeThatTheClientDecodesIsSent(t *testing.T) {
	t.Parallel()
	described := description(t, harness.Running(t))
	unused := map[string]bool{}
	for name := range notSent {
		unused[name] = true
	}
	for _, model := range decoded {
		structure := reflect.TypeOf(model)
		kind := primaryType(structure)
		schema := described[kind]
		if schema.Properties == nil {
			t.Errorf("%s: no such type is described", kind)
			continue
		}
		for _, name := range missing(kind, structure, schema) {
			delete(unused, name)
			if notSent[name] == "" {
				t.Errorf("%s is decoded and not sent", name)
			}
		}
	}
	for name := range unused {
		t.Errorf("%s is sent, or not decoded any more", name)
	}
}

// schema has the parts of a JSON Schema that this file reads.
type schema struct {
	Properties map[string]schema `json:"properties"`
	AnyOf      []schema          `json:"anyOf"`
}

// object returns the alternative with properties, because an attribute may also be null.
func (s schema) object() schema {
	for _, alternative := range s.AnyOf {
		if alternative.Properties != nil {
			return alternative
		}
	}
	return s
}

func description(t *testing.T, server harness.Server) map[string]schema {
	t.Helper()
	status, answer := server.Call(t, server.Token, http.MethodGet, "openapi.json", nil)
	wantEqual(t, "status of openapi.json", status, http.StatusOK)
	var document struct {
		Components struct {
			Schemas map[string]schema `json:"schemas"`
		} `json:"components"`
	}
	must(t, json.Unmarshal(answer, &document))
	return document.Components.Schemas
}

func primaryType(structure reflect.Type) string {
	for field := range structure.Fields() {
		if tag := tagOf(field); tag[0] == "primary" {
			return tag[1]
		}
	}
	return structure.Name()
}

func tagOf(field reflect.StructField) []string {
	return append(strings.Split(field.Tag.Get("jsonapi"), ","), "")
}

// missing lists the attributes and relations, including nested ones, that the description lacks.
func missing(kind string, structure reflect.Type, resource schema) []string {
	var names []string
	for field := range structure.Fields() {
		tag := tagOf(field)
		switch tag[0] {
		case "attr":
			names = append(names, missingAttribute(kind, tag[1], field.Type, resource.Properties["attributes"])...)
		case "relation", "polyrelation":
			if _, isThere := resource.Properties["relationships"].Properties[tag[1]]; !isThere {
				names = append(names, kind+".relationships."+tag[1])
			}
		}
	}
	return names
}

func missingAttribute(path, name string, goType reflect.Type, attributes schema) []string {
	own, isThere := attributes.object().Properties[name]
	if !isThere {
		return []string{path + "." + name}
	}
	if goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	if goType.Kind() != reflect.Struct || len(own.object().Properties) == 0 {
		return nil
	}
	var names []string
	for field := range goType.Fields() {
		if tag := tagOf(field); tag[0] == "attr" {
			names = append(names, missingAttribute(path+"."+name, tag[1], field.Type, own)...)
		}
	}
	return names
}
