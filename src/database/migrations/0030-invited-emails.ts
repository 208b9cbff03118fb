import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/** What an invitation shows until it is accepted, instead of the email as the account has it. */
export const invitedEmails: Migration = {
  async up(db) {
    await runScript(db, 'alter table memberships add column invited_email TEXT;')
  },
}
