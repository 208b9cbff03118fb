import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { migrate, migrateTo } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open.ts'
import { createPostgresDatabase, engines } from './support/engines.ts'

const AT = '2026-01-01T00:00:00.000Z'

describe.each(engines)('tags of an older database on %s', (engine) => {
  test('are there with an id, once in each organization', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-test-'))
    const postgres = engine === 'postgres' ? await createPostgresDatabase() : undefined
    const url = postgres === undefined ? {} : { databaseUrl: postgres.url }
    const config = readConfig({ data: folder, secretKey: '00'.repeat(32), ...url }, {})
    const { database, withConnection } = await openDatabase(config)
    await withConnection((db) => migrateTo(db, '0002-wider-team-blocks'))
    await database.write(async ({ db }) => {
      for (const id of ['org-a', 'org-b']) {
        const times = { created_at: AT, updated_at: AT }
        const project = { id: `prj-${id}`, organization_id: id, name: 'p', description: null, settings: '{}' }
        const ids = { default_project_id: project.id, owners_team_id: 'team-x' }
        const organization = { id, name: id, email: 'a@b', settings: '{}', ...ids, ...times }
        await db.insertInto('organizations').values(organization).execute()
        await db
          .insertInto('projects')
          .values({ ...project, ...times })
          .execute()
        for (const name of ['one', 'two']) {
          const workspace = { id: `ws-${id}-${name}`, organization_id: id, project_id: project.id, name }
          await db
            .insertInto('workspaces')
            .values({ ...workspace, terraform_version: 'latest', settings: '{}', ...times })
            .execute()
          await sql`insert into workspace_tags (workspace_id, name) values (${workspace.id}, 'both')`.execute(
            db,
          )
        }
      }
    })
    await withConnection(migrate)
    await database.read(async (tx) => {
      const tags = await tx.db.selectFrom('tags').selectAll().orderBy('organization_id').execute()
      expect(tags).toMatchObject([
        { organization_id: 'org-a', name: 'both' },
        { organization_id: 'org-b', name: 'both' },
      ])
      expect(tags.every(({ id }) => /^tag-.{16}$/.test(id))).toBe(true)
      const tagged = await tx.db.selectFrom('workspace_tags').selectAll().orderBy('workspace_id').execute()
      const [a, b] = tags.map(({ id }) => id)
      expect(tagged.map(({ tag_id: id }) => id)).toEqual([a, a, b, b])
      if (engine === 'sqlite') {
        const versions = await tx.db.selectFrom('workspace_versions').selectAll().execute()
        expect(versions.map(({ count }) => count)).toEqual([2, 2])
      }
    })
    await database.close()
    await postgres?.drop()
    rmSync(folder, { recursive: true, force: true })
  })
})
