package v2

import "testing"

func TestCurrentDialectHasMorePermissions(t *testing.T) {
	w := newWorld(t)
	permissions := w.newTeam(t, "readers").GetAttributes().GetPermissions()
	for name, permission := range map[string]*bool{
		"can-update-name":                    permissions.GetCanUpdateName(),
		"can-update-sso-team-id":             permissions.GetCanUpdateSsoTeamId(),
		"can-update-member-token-management": permissions.GetCanUpdateMemberTokenManagement(),
		"can-view-api-token":                 permissions.GetCanViewApiToken(),
	} {
		wantEqual(t, name, permission, new(true))
	}
}
