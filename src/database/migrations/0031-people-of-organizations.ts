import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/** Pages of an organization's people, and how many there are, are read from the index alone. */
export const peopleOfOrganizations: Migration = {
  async up(db) {
    await runScript(
      db,
      `drop index memberships_by_organization;
create index memberships_by_organization on memberships (organization_id, is_service_account, created_at, id);`,
    )
  },
}
