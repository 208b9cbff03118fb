package provider

import (
	"fmt"
	"strings"
	"testing"

	"purser.example/conformance/harness"
)

func tryOrganization(t *testing.T, w world) {
	name := harness.Unique("made")
	d := w.newDirectory(t, w.owner.Token)
	organization := func(number int, attributes string) string {
		return fmt.Sprintf("resource \"tfe_organization\" \"n%[1]d\" {\n  name = \"%[2]s-%[1]d\"\n  email = \"one@example.com\"\n  %[3]s\n}\n", number, name, attributes)
	}
	rows := [][]string{
		{``},
		// The provider does not send it when one of these three is removed from a configuration.
		{`session_timeout_minutes = 30`, `session_timeout_minutes = 60`},
		{`session_remember_minutes = 60`, `session_remember_minutes = 30`},
		{`owners_team_saml_role_id = "owners"`, `owners_team_saml_role_id = "masters"`},
		{`collaborator_auth_policy = "password"`, ``},
		{`cost_estimation_enabled = true`, `cost_estimation_enabled = false`, ``},
		{`send_passing_statuses_for_untriggered_speculative_plans = true`, `send_passing_statuses_for_untriggered_speculative_plans = false`, ``},
		{`aggregated_commit_status_enabled = false`, `aggregated_commit_status_enabled = true`, ``},
		{`assessments_enforced = true`, `assessments_enforced = false`, ``},
		{`allow_force_delete_workspaces = true`, ``},
		{`speculative_plan_management_enabled = false`, ``},
		{`stacks_enabled = true`, `stacks_enabled = false`, ``},
		{`max_ttl_enabled = true`, ``},
	}
	d.applyRows(t, "", organization, rows)
	whole := d.configuration(t)
	d.apply(t, whole+fmt.Sprintf(`
data "tfe_organization" "n0" {
  name = tfe_organization.n0.name
  lifecycle {
    postcondition {
      condition     = self.email == "one@example.com" && self.default_project_id == tfe_organization.n0.default_project_id && self.external_id != ""
      error_message = "the organization reads otherwise"
    }
  }
}
data "tfe_organizations" "all" {
  depends_on = [tfe_organization.n0]
  lifecycle {
    postcondition {
      condition     = contains(self.names, "%[1]s-0") && contains(keys(self.ids), %[2]q)
      error_message = "the organization is not listed"
    }
  }
}
`, name, w.organization))
	d.wantImported(t)
	d.apply(t, whole)
	d.refused(t, "collaborator-auth-policy must be", strings.Replace(whole, "email =", "collaborator_auth_policy = \"two_factor_mandatory\"\n  email =", 1))
	d.refused(t, "enforce-hyok must be", strings.Replace(whole, "email =", "enforce_hyok = true\n  email =", 1))
	name = harness.Unique("renamed")
	d.apply(t, organization(0, ""))
	d.destroy(t)
}

// tryUserTokens uses a token that still works when user tokens are off.
func tryUserTokens(t *testing.T, w world) {
	d := w.newDirectory(t, ownersToken(t, w))
	for _, isOn := range []bool{false, true} {
		d.apply(t, fmt.Sprintf("resource \"tfe_organization\" \"this\" {\n  name = %[1]q\n  email = %[2]q\n  user_tokens_enabled = %[3]t\n}\n"+
			"import {\n  to = tfe_organization.this\n  id = %[1]q\n}\n", w.organization, w.owner.Email, isOn))
		if status, _ := w.get(t, "organizations/"+w.organization); (status == 200) != isOn {
			t.Errorf("user_tokens_enabled is %t, and the owner's token is answered %d", isOn, status)
		}
	}
	d.ok(t, "state", "rm", "tfe_organization.this")
}

func tryDefaultSettings(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	for _, mode := range []string{"local", "remote"} {
		d.apply(t, fmt.Sprintf("resource \"tfe_organization_default_settings\" \"this\" {\n  default_execution_mode = %q\n}\n", mode))
	}
	d.wantImported(t)
	d.refused(t, "default-agent-pool must be", "resource \"tfe_organization_default_settings\" \"this\" {\n  default_execution_mode = \"agent\"\n  default_agent_pool_id = \"apool-hmAyP66qk2AMVdbJ\"\n}\n")
	d.destroy(t)
}

func tryMembership(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	known := w.server.NewUser(t, "known")
	stranger := harness.Unique("stranger") + "@example.com"
	configuration := fmt.Sprintf(`
resource "tfe_organization_membership" "each" {
  for_each = toset([%q, %q])
  email    = each.key
}
`, known.Email, stranger)
	d.apply(t, configuration)
	d.wantImported(t)
	// Until they accept, nobody may know which user has the address.
	invited := d.state(t).at(t, fmt.Sprintf("tfe_organization_membership.each[%q]", known.Email))
	if name := invited.text("username"); name != "" {
		t.Errorf("the invitation names %s", name)
	}
	w.server.Accept(t, known, invited.text("id"))
	d.apply(t, configuration+fmt.Sprintf(`
data "tfe_organization_membership" "by_email" {
  email = tfe_organization_membership.each[%[1]q].email
  lifecycle {
    postcondition {
      condition     = self.username == %[2]q && self.user_id == %[3]q && self.id == tfe_organization_membership.each[%[1]q].id
      error_message = "the membership reads otherwise"
    }
  }
}
data "tfe_organization_membership" "by_username" {
  username   = %[2]q
  depends_on = [tfe_organization_membership.each]
  lifecycle {
    postcondition {
      condition     = self.email == %[1]q
      error_message = "the membership reads otherwise"
    }
  }
}
data "tfe_organization_members" "all" {
  depends_on = [tfe_organization_membership.each]
  lifecycle {
    postcondition {
      condition     = length(self.members) == 2 && length(self.members_waiting) == 1
      error_message = "the members are others"
    }
  }
}
`, known.Email, known.Username, known.ID))
	d.apply(t, fmt.Sprintf("resource \"tfe_organization_membership\" \"each\" {\n  for_each = toset([%q])\n  email = each.key\n}\n", known.Email))
	d.destroy(t)
}

func tryTokenPolicy(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	for _, limits := range []string{
		"",
		`org_token_max_ttl = "1y"`,
		`team_token_max_ttl = "2.5d"`,
		"user_token_max_ttl = \"3w\"\n  audit_trail_token_max_ttl = \"6mo\"",
		"",
	} {
		d.apply(t, "resource \"tfe_org_max_token_ttl_policy\" \"this\" {\n  "+limits+"\n}\n")
	}
	d.wantImported(t)
	d.apply(t, `
resource "tfe_org_max_token_ttl_policy" "this" {
  team_token_max_ttl = "1mo"
}
data "tfe_org_max_token_ttl_policy" "this" {
  depends_on = [tfe_org_max_token_ttl_policy.this]
  lifecycle {
    postcondition {
      condition     = self.team_token_max_ttl_ms == 2592000000
      error_message = "the policy reads otherwise"
    }
  }
}
`)
	d.destroy(t)
}
