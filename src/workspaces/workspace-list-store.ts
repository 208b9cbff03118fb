import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import { grantedWorkspaces, type Reach } from '../access/granted-places-store.ts'
import type { Transaction } from '../database/database.ts'
import { holdsText } from '../database/portable.ts'
import type { Tables } from '../database/tables.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { WorkspaceRow } from './workspace-store.ts'

export type WorkspaceFilter = {
  readonly name?: string
  /** The whole name, with `*` at its ends for anything. */
  readonly wildcardName?: string
  readonly projectId?: string
  /** All of these, each once. */
  readonly tags?: readonly string[]
  /** None of these. */
  readonly withoutTags?: readonly string[]
}

type WorkspaceQuery = SelectQueryBuilder<Tables, 'workspaces', object>

/** A page of the workspaces that a caller with this reach may see, by name: the list form of `workspace:read`. */
export async function listVisibleWorkspaces(
  tx: Transaction,
  organizationId: string,
  reach: Reach,
  filter: WorkspaceFilter,
  page: Page,
): Promise<{ workspaces: WorkspaceRow[]; total: number }> {
  let query: WorkspaceQuery = tx.db
    .selectFrom('workspaces')
    .where('workspaces.organization_id', '=', organizationId)
  if (reach !== 'everything') query = query.where('workspaces.id', 'in', grantedWorkspaces(tx, reach.userId))
  if (filter.projectId !== undefined) query = query.where('workspaces.project_id', '=', filter.projectId)
  if (filter.name !== undefined) query = query.where(holdsText(tx.engine, 'workspaces.name', filter.name))
  if (filter.wildcardName !== undefined) query = query.where(matches(tx, filter.wildcardName))
  if (filter.tags !== undefined) {
    const { tags } = filter
    const withAll = taggedWorkspaces(tx, tags)
      .groupBy('workspace_id')
      .having((eb) => eb.fn.countAll(), '=', tags.length)
    query = query.where('workspaces.id', 'in', withAll)
  }
  if (filter.withoutTags !== undefined) {
    query = query.where('workspaces.id', 'not in', taggedWorkspaces(tx, filter.withoutTags))
  }
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const offset = (page.number - 1) * page.size
  if (offset >= count) return { workspaces: [], total: count }
  const workspaces = await query
    .selectAll('workspaces')
    .orderBy('workspaces.name')
    .orderBy('workspaces.id')
    .limit(page.size)
    .offset(offset)
    .execute()
  return { workspaces, total: count }
}

/** Without case, like a search for a part; `*` elsewhere than at the ends means itself, which no name holds. */
function matches(tx: Transaction, pattern: string): RawBuilder<boolean> {
  const isOpenBefore = pattern.startsWith('*')
  const isOpenAfter = pattern.length > 1 && pattern.endsWith('*')
  const part = pattern.slice(isOpenBefore ? 1 : 0, isOpenAfter ? -1 : undefined).toLowerCase()
  if (part === '') return sql<boolean>`1 = 1`
  if (isOpenBefore && isOpenAfter) return holdsText(tx.engine, 'workspaces.name', part)
  const name = sql<string>`lower(workspaces.name)`
  if (isOpenAfter) return sql<boolean>`substr(${name}, 1, ${part.length}) = ${part}`
  if (isOpenBefore) {
    const begin = sql<number>`length(${name}) - ${part.length - 1}`
    return sql<boolean>`length(${name}) >= ${part.length} and substr(${name}, ${begin}) = ${part}`
  }
  return sql<boolean>`${name} = ${part}`
}

function taggedWorkspaces(tx: Transaction, anyOf: readonly string[]) {
  // PostgreSQL takes no NUL, and no tag holds one.
  const names = anyOf.filter((name) => !name.includes('\0'))
  return tx.db
    .selectFrom('workspace_tags')
    .where('name', 'in', names.length === 0 ? [''] : names)
    .select('workspace_id')
}
