import { mkdirSync } from 'node:fs'
import { sql } from 'kysely'
import { readConfig } from '../../src/config.ts'
import { migrateTo } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { noteMeta } from '../../src/operation/meta-store.ts'
import {
  FINGERPRINT,
  fingerprintOf,
  newSecretKey,
  secretKeyFile,
  writeSecretKey,
} from '../../src/operation/secret-key.ts'

const AT = '2026-01-01T00:00:00.000Z'
export const olderWorkspaces = 300
export const olderEvents = 500

/** A data folder after the second migration: an organization whose workspaces have one tag each, and an audit trail. */
export async function makeOlderDatabase(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const key = newSecretKey()
  writeSecretKey(secretKeyFile(folder), key)
  const { database, withConnection } = await openDatabase(readConfig({ data: folder }, {}))
  await withConnection((db) => migrateTo(db, '0002-wider-team-blocks'))
  await database.write(async (tx) => {
    await noteMeta(tx, FINGERPRINT, fingerprintOf(key))
    const { db } = tx
    const times = { created_at: AT, updated_at: AT }
    await db
      .insertInto('users')
      .values({ id: 'user-a', username: 'a', username_key: 'a', created_at: AT })
      .execute()
    const organization = { id: 'org-a', name: 'a', email: 'a@b', settings: '{}' }
    const ids = { default_project_id: 'prj-a', owners_team_id: 'team-a' }
    await db
      .insertInto('organizations')
      .values({ ...organization, ...ids, ...times })
      .execute()
    const project = { id: 'prj-a', organization_id: 'org-a', name: 'p', description: null, settings: '{}' }
    await db
      .insertInto('projects')
      .values({ ...project, ...times })
      .execute()
    for (let number = 0; number < olderWorkspaces; number++) {
      const workspace = {
        id: `ws-${number}`,
        organization_id: 'org-a',
        project_id: 'prj-a',
        name: `w-${number}`,
      }
      await db
        .insertInto('workspaces')
        .values({ ...workspace, terraform_version: 'latest', settings: '{}', ...times })
        .execute()
      await sql`insert into workspace_tags (workspace_id, name) values (${workspace.id}, ${`tag-${number}`})`.execute(
        db,
      )
    }
    for (let number = 0; number < olderEvents; number++) {
      await sql`
        insert into audit_events (at, actor_kind, action, organization_id, resource_type, resource_id, details)
        values (${AT}, 'system', 'workspace.create', 'org-a', 'workspaces', ${`ws-${number}`}, '{}')`.execute(
        db,
      )
    }
  })
  await database.close()
}
