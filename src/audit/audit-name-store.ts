import type { Transaction } from '../database/database.ts'

const IDS_AT_ONCE = 500

/** What the ids in audit events are called now; those that are gone have no entry. */
export async function findNamesOfIds(tx: Transaction, ids: readonly string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const of = (prefix: string) => ids.filter((id) => id.startsWith(`${prefix}-`))
  const note = (rows: readonly { id: string; name: string | null }[]) => {
    for (const { id, name } of rows) if (name !== null) names.set(id, name)
  }
  const { db } = tx
  for (const some of slices(of('user'))) {
    note(await db.selectFrom('users').select(['id', 'username as name']).where('id', 'in', some).execute())
  }
  for (const some of slices(of('team'))) {
    note(await db.selectFrom('teams').select(['id', 'name']).where('id', 'in', some).execute())
  }
  for (const some of slices(of('ws'))) {
    note(await db.selectFrom('workspaces').select(['id', 'name']).where('id', 'in', some).execute())
  }
  for (const some of slices(of('prj'))) {
    note(await db.selectFrom('projects').select(['id', 'name']).where('id', 'in', some).execute())
  }
  for (const some of slices(of('ou'))) {
    const rows = db
      .selectFrom('memberships')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .select(['memberships.id', 'users.username as name'])
    note(await rows.where('memberships.id', 'in', some).execute())
  }
  for (const some of slices(of('sv'))) {
    const rows = db
      .selectFrom('state_versions')
      .innerJoin('workspaces', 'workspaces.id', 'state_versions.workspace_id')
      .select(['state_versions.id', 'workspaces.name', 'state_versions.serial'])
    const found = await rows.where('state_versions.id', 'in', some).execute()
    note(found.map(({ id, name, serial }) => ({ id, name: `${name} #${serial}` })))
  }
  for (const some of slices(of('tws'))) {
    const rows = db
      .selectFrom('team_workspaces as grant')
      .innerJoin('teams', 'teams.id', 'grant.team_id')
      .innerJoin('workspaces', 'workspaces.id', 'grant.workspace_id')
      .select(['grant.id', 'teams.name as team', 'workspaces.name as place'])
    note((await rows.where('grant.id', 'in', some).execute()).map(grantName))
  }
  for (const some of slices(of('tprj'))) {
    const rows = db
      .selectFrom('team_projects as grant')
      .innerJoin('teams', 'teams.id', 'grant.team_id')
      .innerJoin('projects', 'projects.id', 'grant.project_id')
      .select(['grant.id', 'teams.name as team', 'projects.name as place'])
    note((await rows.where('grant.id', 'in', some).execute()).map(grantName))
  }
  return names
}

function grantName({ id, team, place }: { id: string; team: string; place: string }) {
  return { id, name: `${team} on ${place}` }
}

function slices(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / IDS_AT_ONCE) }, (_, number) =>
    ids.slice(number * IDS_AT_ONCE, (number + 1) * IDS_AT_ONCE),
  )
}
