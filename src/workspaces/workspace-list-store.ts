import type { SelectQueryBuilder } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { holdsText } from '../database/portable.ts'
import type { Tables } from '../database/tables.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { WorkspaceRow } from './workspace-store.ts'

export type WorkspaceFilter = {
  readonly name?: string
  readonly projectId?: string
  /** All of these, each once. */
  readonly tags?: readonly string[]
  /** None of these. */
  readonly withoutTags?: readonly string[]
}

/** Whose list it is: everything, or what the teams of one user were granted. */
export type Reach = 'everything' | { readonly userId: string }

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

function taggedWorkspaces(tx: Transaction, anyOf: readonly string[]) {
  return tx.db.selectFrom('workspace_tags').where('name', 'in', anyOf).select('workspace_id')
}

/** Those that a grant puts in some column of the table: a custom one that lets do nothing shows nothing. */
function grantedWorkspaces(tx: Transaction, userId: string) {
  return tx.db
    .selectFrom('team_workspaces as tw')
    .innerJoin('team_members as member', 'member.team_id', 'tw.team_id')
    .where('member.user_id', '=', userId)
    .where('member.is_active', '=', 1)
    .where((eb) => eb.or([eb('tw.state_versions', '!=', 'none'), eb('tw.workspace_locking', '=', 1)]))
    .select('tw.workspace_id as id')
    .union(
      tx.db
        .selectFrom('team_projects as tp')
        .innerJoin('team_members as member', 'member.team_id', 'tp.team_id')
        .innerJoin('workspaces as of_project', 'of_project.project_id', 'tp.project_id')
        .where('member.user_id', '=', userId)
        .where('member.is_active', '=', 1)
        .where((eb) =>
          eb.or([
            eb('tp.state_versions', '!=', 'none'),
            eb('tp.workspace_locking', '=', 1),
            eb('tp.workspace_create', '=', 1),
          ]),
        )
        .select('of_project.id as id'),
    )
}
