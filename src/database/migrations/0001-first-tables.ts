import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'
import { auditTables } from './first-tables/audit.ts'
import { organizationTables } from './first-tables/organizations.ts'
import { refusalTables } from './first-tables/refusals.ts'
import { stateVersionTables } from './first-tables/state-versions.ts'
import { tagTables } from './first-tables/tags.ts'
import { teamAccessTables } from './first-tables/team-access.ts'
import { teamNameSearch } from './first-tables/team-names.ts'
import { teamTables } from './first-tables/teams.ts'
import { workspaceVersions } from './first-tables/workspace-versions.ts'
import { workspaceTables } from './first-tables/workspaces.ts'

export const firstTables: Migration = {
  async up(db) {
    // A table comes after the tables that it references, and triggers come after their tables.
    await runScript(db, organizationTables)
    await runScript(db, teamTables)
    await runScript(db, workspaceTables)
    await runScript(db, tagTables)
    await runScript(db, teamAccessTables)
    await runScript(db, stateVersionTables)
    await runScript(db, auditTables)
    await runScript(db, refusalTables)
    await runScript(db, teamNameSearch)
    await runScript(db, workspaceVersions)
  },
}
