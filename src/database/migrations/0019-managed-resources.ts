import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/** Safe-delete asks for managed resources alone. Of older state versions nobody counted them. */
export const managedResources: Migration = {
  async up(db) {
    await runScript(db, 'alter table state_versions add column managed_resources_count INTEGER;')
  },
}
