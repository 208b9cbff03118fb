import { existing } from '../core/existing.ts'
import { expressionBuilder, sql, type NotNull, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import { isWorkspaceGranted, type Reach } from '../access/granted-places-store.ts'
import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import { holdsText } from '../database/portable.ts'
import { prepared } from '../database/prepared.ts'
import type { Tables } from '../database/tables.ts'
import { fromNearerEnd } from '../database/window.ts'
import type { Page } from '../jsonapi/paging.ts'
import { isWorkspaceTagged, type TagFilter } from '../tag-bindings/tag-binding-store.ts'
import { findWorkspaces, type WorkspaceRow } from './workspace-store.ts'

type WorkspaceFilter = {
  readonly name?: string
  /** The whole name. `*` at its start or end matches anything. */
  readonly wildcardName?: string
  readonly projectId?: string
  /** The workspace must have all of these, each listed once. */
  readonly tags?: readonly string[]
  /** The workspace must have none of these. */
  readonly withoutTags?: readonly string[]
  /** The workspace must have all of these bindings in effect, or one of them with `isTagUnion`. */
  readonly tagged?: readonly TagFilter[]
  readonly isTagUnion?: boolean
  /** Only workspaces with runs. There are none here. */
  readonly hasRun?: boolean
}

export const workspaceSorts = [
  'name',
  '-name',
  'latest-change-at',
  '-latest-change-at',
  // There are no runs here, so this does not order anything.
  'current-run.created-at',
  '-current-run.created-at',
] as const
type WorkspaceSort = (typeof workspaceSorts)[number]

type WorkspaceQuery = SelectQueryBuilder<Tables, 'workspaces', object>

/**
 * A version that every change of a workspace document in the organization raises, and the number of workspaces. Pages
 * are cached by it.
 */
const versionOf = prepared<{ organizationId: string }>()((db, param) =>
  db
    .selectFrom('workspace_versions')
    .where('organization_id', '=', param('organizationId'))
    .select(['version', 'count']),
)

export async function workspacesVersion(
  tx: Transaction,
  organizationId: string,
): Promise<{ version: number; count: number }> {
  return (await tx.first(versionOf, { organizationId })) ?? { version: 0, count: 0 }
}

/** The number of workspaces in the organization. Triggers keep it. */
export async function countWorkspaces(tx: Transaction, organizationId: string): Promise<number> {
  return (await workspacesVersion(tx, organizationId)).count
}

/** A page of the workspaces that the caller may see. The same rule as `workspace:read`, in SQL. */
export async function listVisibleWorkspaces(
  tx: Transaction,
  organizationId: string,
  reach: Reach,
  filter: WorkspaceFilter,
  page: Page,
  { sort = 'name', known }: { sort?: WorkspaceSort; known?: number | undefined } = {},
): Promise<{ workspaces: WorkspaceRow[]; total: number }> {
  let query: WorkspaceQuery = tx.db.selectFrom('workspaces')
  query =
    filter.projectId === undefined
      ? query.where('workspaces.organization_id', '=', organizationId)
      : query.where('workspaces.project_id', '=', projectOf(organizationId, filter.projectId))
  if (reach !== 'everything') query = query.where(isWorkspaceGranted(tx, reach.userId))
  if (filter.name !== undefined) query = query.where(holdsText(tx.engine, 'workspaces.name', filter.name))
  if (filter.wildcardName !== undefined) query = query.where(matches(tx, filter.wildcardName))
  if (filter.tags !== undefined)
    query = query.where('workspaces.id', 'in', withAll(organizationId, filter.tags))
  if (filter.withoutTags !== undefined) {
    const { byTag, byOwnKey, projectsByKey } = withOneOf(organizationId, filter.withoutTags)
    query = query
      .where('workspaces.id', 'not in', byTag)
      .where('workspaces.id', 'not in', byOwnKey)
      .where('workspaces.project_id', 'not in', projectsByKey)
  }
  if (filter.tagged !== undefined && filter.tagged.length > 0) {
    const tagged = filter.tagged.map((each) => isWorkspaceTagged(organizationId, each))
    query = query.where((eb) => (filter.isTagUnion === true ? eb.or(tagged) : eb.and(tagged)))
  }
  if (filter.hasRun === true) query = query.where(sql<boolean>`1 = 0`)
  const total = known ?? (await countOf(query))
  const isDescending = sort === '-name' || sort === '-latest-change-at'
  // First only the ids: an index covers them and all filtered columns.
  const found = await fromNearerEnd(total, (page.number - 1) * page.size, page.size, (end, range) => {
    const direction = isDescending === (end === 'desc') ? 'asc' : 'desc'
    return query
      .select('workspaces.id')
      .$if(sort.endsWith('latest-change-at'), (sorted) => sorted.orderBy('workspaces.updated_at', direction))
      .orderBy('workspaces.name', direction)
      .limit(range.limit)
      .offset(range.offset)
      .execute()
  })
  const ids = found.map(({ id }) => id)
  const rows = new Map((await findWorkspaces(tx, organizationId, ids)).map((row) => [row.id, row]))
  return { workspaces: ids.map((id) => existing(rows.get(id))), total }
}

/**
 * Selects the project only if it is in the organization. This makes the database use the index on the project's
 * workspaces instead of the one on the organization's.
 */
function projectOf(organizationId: string, projectId: string) {
  return expressionBuilder<Tables>()
    .selectFrom('projects')
    .where('projects.id', '=', projectId)
    .where('projects.organization_id', '=', organizationId)
    .select('projects.id')
}

/** Ignores case, as a search for a part does. A `*` not at an end is taken literally, and no name contains one. */
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

/**
 * Selects the workspaces and projects that have one of these tags, and those that have a key-value tag with such a key.
 * A workspace has the keys of its project, whatever value it gives them.
 */
function withOneOf(organizationId: string, names: readonly string[]) {
  const eb = expressionBuilder<Tables>()
  // PostgreSQL accepts no NUL, and no tag contains one.
  const known = ['', ...names.filter((name) => !name.includes('\0'))]
  const bound = eb
    .selectFrom('tag_bindings')
    .where('tag_bindings.organization_id', '=', organizationId)
    .where('tag_bindings.key', 'in', known)
  return {
    byTag: eb
      .selectFrom('tags')
      .innerJoin('workspace_tags', 'workspace_tags.tag_id', 'tags.id')
      .where('tags.organization_id', '=', organizationId)
      .where('tags.name', 'in', known)
      .select(['workspace_tags.workspace_id']),
    byOwnKey: bound
      .where('tag_bindings.workspace_id', 'is not', null)
      .select('tag_bindings.workspace_id')
      .$narrowType<{ workspace_id: NotNull }>(),
    projectsByKey: bound
      .where('tag_bindings.project_id', 'is not', null)
      .select('tag_bindings.project_id')
      .$narrowType<{ project_id: NotNull }>(),
  }
}

/** Selects the workspaces that have all of these names, each as a tag or as the key of a key-value tag. */
function withAll(organizationId: string, names: readonly string[]) {
  const eb = expressionBuilder<Tables>()
  const { byTag, byOwnKey, projectsByKey } = withOneOf(organizationId, names)
  const found = byTag
    .select('tags.name as name')
    .union(byOwnKey.select('tag_bindings.key as name'))
    .union(
      projectsByKey
        .clearSelect()
        .innerJoin('workspaces as inheriting', 'inheriting.project_id', 'tag_bindings.project_id')
        .select(['inheriting.id as workspace_id', 'tag_bindings.key as name']),
    )
  return eb
    .selectFrom(found.as('found'))
    .select('found.workspace_id')
    .groupBy('found.workspace_id')
    .having((of) => of.fn.countAll(), '=', names.length)
}
