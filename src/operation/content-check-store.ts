import { sql } from 'kysely'
import { newId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import type { Connection } from '../database/open.ts'
import { findStateVersion, type StateVersionRow } from '../state-versions/state-version-store.ts'

export type CheckedVersion = { row: StateVersionRow; workspace: string; isCurrent: boolean }

/** Nearly all of a file: sealed states and outputs. */
const contentTables = ['state_chunks', 'output_blocks']

/** The errors that SQLite finds in its file; empty if there are none. Without `isWhole`, it leaves content out. */
export async function quickCheck(db: Connection, isWhole: boolean): Promise<string[]> {
  const tables = isWhole ? [undefined] : await tablesWithoutContent(db)
  const lines: string[] = []
  for (const table of tables) {
    const check = table === undefined ? sql`pragma quick_check` : sql`pragma quick_check(${sql.table(table)})`
    const { rows } = await sql<{ quick_check: string }>`${check}`.execute(db)
    lines.push(...rows.map((row) => row.quick_check).filter((line) => line !== 'ok'))
  }
  if (lines.length > 0) return lines
  const lost = await sql<{ table: string; parent: string; count: number }>`
    select "table", parent, count(*) as count from pragma_foreign_key_check group by "table", parent`.execute(
    db,
  )
  return lost.rows.map(({ table, parent, count }) => `${count} rows of ${table} name lost rows of ${parent}`)
}

async function tablesWithoutContent(db: Connection): Promise<string[]> {
  const tables = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table' and name not in (${sql.join(contentTables)})`.execute(
    db,
  )
  return tables.rows.map(({ name }) => name)
}

export async function countStateVersions(tx: Transaction): Promise<number> {
  return countOf(tx.db.selectFrom('state_versions'))
}

/** The ids of the next state versions after `after`. */
export async function nextStateVersions(tx: Transaction, after: string, limit: number): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('state_versions')
    .where('id', '>', after)
    .select('id')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** The ids of some state versions, chosen at random. */
export async function someStateVersions(tx: Transaction, count: number): Promise<string[]> {
  const from = await nextStateVersions(tx, newId('stateVersion'), count)
  if (from.length === count) return from
  const first = await nextStateVersions(tx, '', count)
  return [...new Set([...from, ...first])].slice(0, count)
}

export async function findCheckedVersion(tx: Transaction, id: string): Promise<CheckedVersion | undefined> {
  const row = await findStateVersion(tx, id)
  if (row === undefined) return undefined
  const workspace = await tx.db
    .selectFrom('workspaces')
    .innerJoin('organizations', 'organizations.id', 'workspaces.organization_id')
    .where('workspaces.id', '=', row.workspace_id)
    .select(['workspaces.name', 'workspaces.current_state_version_id as current'])
    .select('organizations.name as organization')
    .executeTakeFirst()
  return {
    row,
    workspace: workspace === undefined ? row.workspace_id : `${workspace.organization}/${workspace.name}`,
    isCurrent: workspace?.current === id,
  }
}

export async function countBlocks(tx: Transaction, id: string): Promise<number> {
  return countOf(tx.db.selectFrom('output_blocks').where('state_version_id', '=', id))
}

/** Workspaces whose current state version is missing or not finalized. */
export async function findWithoutCurrent(tx: Transaction): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('workspaces')
    .innerJoin('organizations', 'organizations.id', 'workspaces.organization_id')
    .leftJoin('state_versions', 'state_versions.id', 'workspaces.current_state_version_id')
    .where('workspaces.current_state_version_id', 'is not', null)
    .where((eb) =>
      eb.or([eb('state_versions.id', 'is', null), eb('state_versions.status', '!=', 'finalized')]),
    )
    .select(['workspaces.name', 'organizations.name as organization'])
    .orderBy('workspaces.id')
    .execute()
  return rows.map((row) => `${row.organization}/${row.name}`)
}

/** Counts stored chunks and blocks whose state version is missing. */
export async function countLeft(tx: Transaction): Promise<{ chunks: number; blocks: number }> {
  const countIn = (table: 'state_chunks' | 'output_blocks') =>
    countOf(
      tx.db
        .selectFrom(table)
        .where('state_version_id', 'not in', (eb) => eb.selectFrom('state_versions').select('id')),
    )
  return { chunks: await countIn('state_chunks'), blocks: await countIn('output_blocks') }
}
