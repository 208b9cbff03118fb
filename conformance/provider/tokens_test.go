package provider

import (
	"fmt"
	"testing"
	"time"
)

func tryTeamToken(t *testing.T, w world) {
	d := w.newDirectory(t, w.owner.Token)
	token := func(name, attributes string) string {
		return fmt.Sprintf("resource \"tfe_team_token\" %q {\n  team_id = tfe_team.this.id\n  %s\n}\n", name, attributes)
	}
	expiry := func(days int) string {
		return fmt.Sprintf("expired_at = %q", time.Now().UTC().AddDate(0, 0, days).Format(time.RFC3339))
	}
	week, month := expiry(7), expiry(30)
	for _, tokens := range []string{
		token("this", ""),
		token("this", week),
		token("this", month),
		token("this", "force_regenerate = true"),
		token("this", "") + token("deploy", `description = "deploy"`),
		token("this", "") + token("deploy", "description = \"deploy\"\n"+week),
		token("this", "") + token("deploy", "description = \"deploy\"\n"+week) + token("audit", `description = "audit"`),
	} {
		d.apply(t, readersTeam+tokens)
	}
	d.wantImported(t)
	d.refused(t, "A token already exists", readersTeam+token("this", "")+token("second", ""))
	d.withoutKind(t, "tfe_team_token", func() { d.apply(t, readersTeam) })
	d.apply(t, readersTeam+token("deploy", `description = "deploy"`))
	d.destroy(t)
}

func tryOrganizationToken(t *testing.T, w world) {
	tryTokenOfOrganization(t, w, "tfe_organization_token")
}

func tryAuditTrailToken(t *testing.T, w world) {
	tryTokenOfOrganization(t, w, "tfe_audit_trail_token")
}

func tryTokenOfOrganization(t *testing.T, w world, kind string) {
	d := w.newDirectory(t, w.owner.Token)
	token := func(attributes string) string {
		return fmt.Sprintf("resource %q \"this\" {\n  %s\n}\n", kind, attributes)
	}
	d.apply(t, token(""))
	d.apply(t, token(fmt.Sprintf("expired_at = %q", time.Now().UTC().AddDate(0, 1, 0).Format(time.RFC3339))))
	d.wantImported(t)
	d.apply(t, token("force_regenerate = true"))
	d.destroy(t)
}
