package provider

import (
	"maps"
	"slices"
	"testing"

	"purser.example/conformance/harness/replay"
)

// The tests, by the provider's resource names.
var programs = map[string]func(t *testing.T, w world){
	"tfe_organization":                  tryOrganization,
	"tfe_organization, user tokens":     tryUserTokens,
	"tfe_organization_default_settings": tryDefaultSettings,
	"tfe_organization_membership":       tryMembership,
	"tfe_org_max_token_ttl_policy":      tryTokenPolicy,
	"tfe_team":                          tryTeam,
	"tfe_team, flag by flag":            tryFlags,
	"tfe_team_member":                   tryTeamMember,
	"tfe_team_members":                  tryTeamMembers,
	"tfe_team_organization_member":      tryTeamOrganizationMember,
	"tfe_team_organization_members":     tryTeamOrganizationMembers,
	"tfe_team_token":                    tryTeamToken,
	"tfe_organization_token":            tryOrganizationToken,
	"tfe_audit_trail_token":             tryAuditTrailToken,
	"tfe_team_access":                   tryTeamAccess,
	"tfe_team_project_access":           tryTeamProjectAccess,
	"tfe_project":                       tryProject,
	"tfe_project_settings":              tryProjectSettings,
	"tfe_workspace":                     tryWorkspace,
	"tfe_workspace, all at once":        tryWholeWorkspace,
	"tfe_workspace, tags":               tryWorkspaceTags,
	"tfe_workspace_settings":            tryWorkspaceSettings,
	"tfe_outputs":                       tryOutputs,
	"ephemeral resources":               tryEphemeral,
	"import by the command":             tryImportCommand,
	"what is not there":                 tryWhatIsNotThere,
	"a whole organization":              tryWholeOrganization,
}

func TestProvider(t *testing.T) {
	all := replay.Of(client)
	t.Run("resources", func(t *testing.T) {
		for name, try := range programs {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				try(t, newWorld(t, all))
			})
		}
	})
	all.CheckList(t, slices.Collect(maps.Keys(programs)))
}
