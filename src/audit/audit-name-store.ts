import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { inSlices } from '../database/slices.ts'

type Named = { id: string; name: string | null }

/** The present names of the objects whose ids are in audit events. A deleted object has no entry. */
export async function findNamesOfIds(tx: Transaction, ids: readonly string[]): Promise<Map<string, string>> {
  const { db } = tx
  const names = new Map<string, string>()
  const add = async (prefix: string, find: (some: readonly string[]) => Promise<Named[]>) => {
    const own = ids.filter((id) => id.startsWith(`${prefix}-`))
    for (const { id, name } of await inSlices(own, find)) if (name !== null) names.set(id, name)
  }
  await add('user', (some) =>
    db.selectFrom('users').select(['id', 'username as name']).where('id', 'in', some).execute(),
  )
  for (const [prefix, table] of [
    ['team', 'teams'],
    ['ws', 'workspaces'],
    ['prj', 'projects'],
  ] as const) {
    await add(prefix, (some) => db.selectFrom(table).select(['id', 'name']).where('id', 'in', some).execute())
  }
  await add('ou', (some) =>
    db
      .selectFrom('memberships')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .select(['memberships.id', 'users.username as name'])
      .where('memberships.id', 'in', some)
      .execute(),
  )
  await add('sv', (some) =>
    db
      .selectFrom('state_versions as version')
      .innerJoin('workspaces', 'workspaces.id', 'version.workspace_id')
      .select(['version.id', sql<string>`workspaces.name || ' #' || version.serial`.as('name')])
      .where('version.id', 'in', some)
      .execute(),
  )
  await add('tws', (some) =>
    db
      .selectFrom('team_workspaces as grant')
      .innerJoin('teams', 'teams.id', 'grant.team_id')
      .innerJoin('workspaces', 'workspaces.id', 'grant.workspace_id')
      .select(['grant.id', sql<string>`teams.name || ' on ' || workspaces.name`.as('name')])
      .where('grant.id', 'in', some)
      .execute(),
  )
  await add('tprj', (some) =>
    db
      .selectFrom('team_projects as grant')
      .innerJoin('teams', 'teams.id', 'grant.team_id')
      .innerJoin('projects', 'projects.id', 'grant.project_id')
      .select(['grant.id', sql<string>`teams.name || ' on ' || projects.name`.as('name')])
      .where('grant.id', 'in', some)
      .execute(),
  )
  return names
}
