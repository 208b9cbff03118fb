import { sql, type Expression, type Insertable, type SqlBool } from 'kysely'
import { isWorkspaceGranted, type Reach } from '../access/granted-places-store.ts'
import type { Transaction } from '../database/database.ts'
import { rowBy } from '../database/rows.ts'
import { countOf, pageOf } from '../database/pages.ts'
import { forUpdate, holdsText, unindexed } from '../database/portable.ts'
import { deleteSome, inSlices } from '../database/slices.ts'
import type { TagTable } from '../database/tag-tables.ts'
import type { Page } from '../jsonapi/paging.ts'

/** A tag, and how many workspaces with it the caller may see. */
export type TagRow = { id: string; name: string; instance_count: number }

type TagFilter = {
  readonly q?: string | undefined
  readonly ids?: readonly string[]
  /** Only tags that this workspace does not have. If the caller may not see the workspace, it excludes nothing. */
  readonly notOf?: string | undefined
}

/** Pairs of a tag and a workspace, for the workspaces that the caller may see. */
function tagged(tx: Transaction, organizationId: string, reach: Reach) {
  const query = tx.db.selectFrom('workspace_tags')
  return reach === 'everything'
    ? query
    : query.where(unindexed(tx.engine, 'workspace_tags.workspace_id'), 'in', (eb) =>
        eb
          .selectFrom('workspaces')
          .where('workspaces.organization_id', '=', organizationId)
          .where(isWorkspaceGranted(tx, reach.userId))
          .select('workspaces.id'),
      )
}

/** The tags on workspaces that the caller may see. A caller who sees everything also gets unused tags. */
function visibleTags(tx: Transaction, organizationId: string, reach: Reach, filter: TagFilter) {
  const exists = (query: ReturnType<typeof tagged>): Expression<SqlBool> => {
    const ofTag = query.where('workspace_tags.tag_id', '=', sql.ref<string>('tags.id'))
    return sql<SqlBool>`exists ${ofTag.select('workspace_tags.workspace_id')}`
  }
  const own = tx.db.selectFrom('tags').where('tags.organization_id', '=', organizationId)
  let query = reach === 'everything' ? own : own.where(exists(tagged(tx, organizationId, reach)))
  const { q, ids, notOf } = filter
  if (q !== undefined && reach === 'everything') query = query.where(holdsText(tx.engine, 'tags.name', q))
  else if (q !== undefined) {
    // The limit makes both engines find the visible tags before they compare names. Otherwise they would look at
    // workspaces only if some tag has the name, and the time would tell whether a hidden one has.
    const visible = query.select(['tags.id', 'tags.name']).limit(Number.MAX_SAFE_INTEGER)
    query = own.where('tags.id', 'in', (eb) =>
      eb
        .selectFrom(visible.as('visible'))
        .where(holdsText(tx.engine, 'visible.name', q))
        .select('visible.id'),
    )
  }
  if (ids !== undefined) query = query.where('tags.id', 'in', ids)
  if (notOf !== undefined) {
    const isOf = exists(tagged(tx, organizationId, reach).where('workspace_tags.workspace_id', '=', notOf))
    query = query.where(sql<SqlBool>`not ${isOf}`)
  }
  return query
}

/** A page of the visible tags, by name. */
export async function listVisibleTags(
  tx: Transaction,
  organizationId: string,
  reach: Reach,
  filter: TagFilter,
  page: Page,
): Promise<{ tags: TagRow[]; total: number }> {
  return tagsOf(tx, organizationId, reach, visibleTags(tx, organizationId, reach, filter), page)
}

/** A page of the tags of a workspace that the caller may see, by name. */
export async function listTagsOfWorkspace(
  tx: Transaction,
  reach: Reach,
  workspace: { readonly id: string; readonly organization_id: string },
  page: Page,
): Promise<{ tags: TagRow[]; total: number }> {
  const query = tx.db
    .selectFrom('tags')
    .where('tags.id', 'in', (eb) =>
      eb
        .selectFrom('workspace_tags')
        .where('workspace_tags.workspace_id', '=', workspace.id)
        .select('workspace_tags.tag_id'),
    )
  return tagsOf(tx, workspace.organization_id, reach, query, page)
}

async function tagsOf(
  tx: Transaction,
  organizationId: string,
  reach: Reach,
  query: ReturnType<typeof visibleTags>,
  page: Page,
): Promise<{ tags: TagRow[]; total: number }> {
  const { rows: tags, total } = await pageOf(query, page, (found) =>
    found.select(['tags.id', 'tags.name']).orderBy('tags.name'),
  )
  const counts = await countsOf(tx, organizationId, reach, tags)
  return { tags: tags.map((tag) => ({ ...tag, instance_count: counts.get(tag.id) ?? 0 })), total }
}

/** How many workspaces with each tag the caller may see. Looks only at workspaces that have one of the tags. */
async function countsOf(
  tx: Transaction,
  organizationId: string,
  reach: Reach,
  tags: readonly { id: string }[],
): Promise<Map<string, number>> {
  if (tags.length === 0) return new Map()
  const ids = tags.map(({ id }) => id)
  let query = tx.db.selectFrom('workspace_tags').where('workspace_tags.tag_id', 'in', ids)
  if (reach !== 'everything') {
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom('workspaces')
          .whereRef('workspaces.id', '=', 'workspace_tags.workspace_id')
          // Always true. Without it PostgreSQL may look at the workspaces of all organizations.
          .where('workspaces.organization_id', '=', organizationId)
          .where(isWorkspaceGranted(tx, reach.userId))
          .select('workspaces.id'),
      ),
    )
  }
  const rows = await query
    .groupBy('workspace_tags.tag_id')
    .select((eb) => ['workspace_tags.tag_id as id', eb.fn.countAll<number>().as('count')])
    .execute()
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** The tags with these ids that the caller may see. */
export function findVisibleTags(
  tx: Transaction,
  organizationId: string,
  reach: Reach,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  return inSlices(ids, (slice) =>
    visibleTags(tx, organizationId, reach, { ids: slice }).select(['tags.id', 'tags.name']).execute(),
  )
}

export const findTag = rowBy('tags', 'id')

/** Inserts the tags that the organization does not have yet. */
export async function insertTags(tx: Transaction, rows: readonly Insertable<TagTable>[]): Promise<void> {
  await tx.db
    .insertInto('tags')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .execute()
}

export async function countTags(tx: Transaction, organizationId: string): Promise<number> {
  return countOf(tx.db.selectFrom('tags').where('organization_id', '=', organizationId))
}

/** Deletes tags from the organization and all its workspaces. `deleteOfTag` deletes their rows of workspaces later. */
export async function deleteTags(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.db.deleteFrom('tags').where('id', 'in', ids).execute()
  await tx.db
    .insertInto('deleted_tags')
    .values(ids.map((id) => ({ id })))
    .execute()
}

export async function findDeletedTag(tx: Transaction): Promise<string | undefined> {
  const row = await tx.db.selectFrom('deleted_tags').select('id').limit(1).executeTakeFirst()
  return row?.id
}

/** Deletes a slice of the rows of a deleted tag. The last call deletes the note that there is work left. */
export async function deleteOfTag(tx: Transaction, id: string): Promise<void> {
  // Another node that deletes the same rows at the same time would make its slice look like the last one.
  const note = tx.db.selectFrom('deleted_tags').where('id', '=', id).select('id').$call(forUpdate(tx))
  if ((await note.executeTakeFirst()) === undefined) return
  if (await deleteSome(tx, 'workspace_tags', sql`tag_id = ${id}`)) return
  await tx.db.deleteFrom('deleted_tags').where('id', '=', id).execute()
}
