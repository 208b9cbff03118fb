import { mkdirSync } from 'node:fs'
import type { Config } from '../../src/config.ts'
import { FIRST_MIGRATION, migrateTo } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { noteMeta } from '../../src/database/meta-store.ts'
import {
  FINGERPRINT,
  findSecretKey,
  fingerprintOf,
  newSecretKey,
  secretKeyFile,
  writeSecretKey,
} from '../../src/operation/secret-key.ts'

const AT = '2026-01-01T00:00:00.000Z'
export const olderWorkspaces = 300

/** A database after the first migration: an organization with workspaces. */
export async function makeOlderDatabase(config: Config): Promise<void> {
  mkdirSync(config.data, { recursive: true })
  const key = findSecretKey(config) ?? newSecretKey()
  if (config.secretKey === undefined) writeSecretKey(secretKeyFile(config.data), key)
  const { database, withConnection } = await openDatabase(config)
  await withConnection((db) => migrateTo(db, FIRST_MIGRATION))
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
    }
  })
  await database.close()
}
