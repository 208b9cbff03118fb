package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// instance is one managed resource of a state.
type instance struct {
	address    string
	kind       string
	attributes map[string]any
}

func (i instance) text(name string) string {
	value, _ := i.attributes[name].(string)
	return value
}

// state has all resources that one directory manages.
type state []instance

// state reads the file that tofu has written.
func (d directory) state(t *testing.T) state {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(d.path, "terraform.tfstate"))
	must(t, err)
	var file struct {
		Resources []struct {
			Mode      string
			Type      string
			Name      string
			Instances []struct {
				IndexKey   any `json:"index_key"`
				Attributes map[string]any
			}
		}
	}
	must(t, json.Unmarshal(content, &file))
	var all state
	for _, resource := range file.Resources {
		if resource.Mode != "managed" {
			continue
		}
		for _, one := range resource.Instances {
			address := resource.Type + "." + resource.Name
			switch key := one.IndexKey.(type) {
			case string:
				address += fmt.Sprintf("[%q]", key)
			case float64:
				address += fmt.Sprintf("[%d]", int(key))
			}
			all = append(all, instance{address: address, kind: resource.Type, attributes: one.Attributes})
		}
	}
	return all
}

func (s state) at(t *testing.T, address string) instance {
	t.Helper()
	for _, one := range s {
		if one.address == address {
			return one
		}
	}
	t.Fatalf("%s is not in the state", address)
	return instance{}
}

// withID returns the resource with the kind and id.
func (s state) withID(t *testing.T, kind, id string) instance {
	t.Helper()
	one, isHere := s.find(kind, id)
	if !isHere {
		t.Fatalf("no %s with the id %s is in the state", kind, id)
	}
	return one
}

func (s state) find(kind, id string) (instance, bool) {
	for _, one := range s {
		if one.kind == kind && one.text("id") == id {
			return one, true
		}
	}
	return instance{}, false
}

// importIDs returns the texts with which a person can import the resource: by id, and by name if the provider can.
func (d directory) importIDs(t *testing.T, s state, one instance) []string {
	t.Helper()
	id, organization := one.text("id"), d.organizationOf(one)
	switch one.kind {
	case "tfe_team":
		return []string{organization + "/" + id, organization + "/" + one.text("name")}
	case "tfe_workspace":
		return []string{id, organization + "/" + one.text("name")}
	case "tfe_workspace_settings":
		workspace := s.withID(t, "tfe_workspace", one.text("workspace_id"))
		return []string{id, d.organizationOf(workspace) + "/" + workspace.text("name")}
	case "tfe_organization_membership":
		return []string{id, organization + "/" + one.text("email")}
	case "tfe_team_organization_member":
		team := s.withID(t, "tfe_team", one.text("team_id"))
		membership, isHere := s.find("tfe_organization_membership", one.text("organization_membership_id"))
		if !isHere {
			return []string{id}
		}
		return []string{id, strings.Join([]string{d.organizationOf(team), membership.text("email"), team.text("name")}, "/")}
	case "tfe_team_access":
		workspace := s.withID(t, "tfe_workspace", one.text("workspace_id"))
		return []string{d.organizationOf(workspace) + "/" + workspace.text("name") + "/" + id}
	case "tfe_organization_default_settings", "tfe_organization_token", "tfe_audit_trail_token", "tfe_org_max_token_ttl_policy":
		return []string{organization}
	default:
		return []string{id}
	}
}

// organizationOf reads the organization from the state. Teams may leave it to the provider's setting.
func (d directory) organizationOf(one instance) string {
	if name := one.text("organization"); name != "" {
		return name
	}
	return d.organization
}

// wantGone fails if the server still has a resource that the provider has destroyed.
func (w world) wantGone(t *testing.T, one instance) {
	t.Helper()
	path, text := one.place()
	if path == "" {
		return
	}
	status, body := w.get(t, path)
	if text == "" && status != http.StatusNotFound {
		t.Errorf("%s is still there: GET %s is %d", one.address, path, status)
	}
	if text != "" && strings.Contains(body, text) {
		t.Errorf("%s is still there: GET %s shows %s", one.address, path, text)
	}
}

// place returns where the server shows the resource: a path of its own, or a path and a text in its answer.
func (i instance) place() (path, text string) {
	id := i.text("id")
	switch i.kind {
	case "tfe_organization":
		return "organizations/" + id, ""
	case "tfe_organization_membership":
		return "organization-memberships/" + id, ""
	case "tfe_team":
		return "teams/" + id, ""
	case "tfe_team_member":
		return "teams/" + i.text("team_id") + "?include=users", i.text("username")
	case "tfe_team_organization_member":
		return "teams/" + i.text("team_id") + "/relationships/organization-memberships", i.text("organization_membership_id")
	case "tfe_team_members", "tfe_team_organization_members":
		return "teams/" + i.text("team_id") + "/relationships/organization-memberships", `"type":"organization-memberships"`
	case "tfe_team_token":
		if strings.HasPrefix(id, "at-") {
			return "authentication-tokens/" + id, ""
		}
		return "teams/" + i.text("team_id") + "/authentication-token", ""
	case "tfe_organization_token":
		return "organizations/" + id + "/authentication-token", ""
	case "tfe_audit_trail_token":
		return "organizations/" + i.text("organization") + "/authentication-token?token=audit-trails", ""
	case "tfe_project":
		return "projects/" + id, ""
	case "tfe_workspace":
		return "workspaces/" + id, ""
	case "tfe_team_access":
		return "team-workspaces/" + id, ""
	case "tfe_team_project_access":
		return "team-projects/" + id, ""
	default:
		return "", ""
	}
}
