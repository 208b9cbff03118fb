import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/** What an organization says of tokens: whether users' are let in, and how long each kind may live. */
export const tokenPolicies: Migration = {
  async up(db) {
    await runScript(db, columns)
  },
}

const columns = `
alter table organizations add column user_tokens_enabled INTEGER not null default 1;
alter table organizations add column max_ttl_enabled INTEGER not null default 0;
alter table organizations add column max_ttl_user_ms INTEGER;
alter table organizations add column max_ttl_team_ms INTEGER;
alter table organizations add column max_ttl_organization_ms INTEGER;
alter table organizations add column max_ttl_audit_trails_ms INTEGER;
`
