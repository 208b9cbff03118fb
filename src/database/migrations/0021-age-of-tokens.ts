import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/** A user's token that was made with another one is as old as that one. */
export const ageOfTokens: Migration = {
  async up(db) {
    await runScript(db, 'alter table authentication_tokens add column age_since TEXT')
  },
}
