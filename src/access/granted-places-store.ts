import { expressionBuilder, type Expression, type SqlBool } from 'kysely'
import { NO_ID } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'
import { isPermitted, type Caller } from './decide.ts'

/** Limits a list: to everything, or to the places that the teams of one user have grants on. */
export type Reach = 'everything' | { readonly userId: string }

/** Rights on the project itself that only some levels of a project grant give. */
export type ProjectRight = 'project:manage' | 'workspace:create'

/** Which workspaces or projects the caller's list may show. Everything, if the table permits it without a grant. */
export function reachOf(
  permission: 'workspace:read' | 'project:read' | ProjectRight,
  { actor, standing }: Caller,
): Reach {
  return isPermitted(permission, actor, standing, {}) ? 'everything' : { userId: actor.userId ?? NO_ID }
}

/** Ids of the teams that the user is an active member of. */
export function teamIdsOf(userId: string) {
  return expressionBuilder<Tables>()
    .selectFrom('team_members as member')
    .where('member.user_id', '=', userId)
    .where('member.is_active', '=', 1)
    .select('member.team_id')
}

/**
 * Grants on workspaces that give the user at least one column of the table. A custom grant that allows nothing shows
 * nothing. For lists, the same rule as `columnsOfGrant`.
 */
function grantsOnWorkspaces(tx: Transaction, userId: string) {
  return tx.db
    .selectFrom('team_workspaces as tw')
    .innerJoin('team_members as member', 'member.team_id', 'tw.team_id')
    .where('member.user_id', '=', userId)
    .where('member.is_active', '=', 1)
    .where((eb) => eb.or([eb('tw.state_versions', '!=', 'none'), eb('tw.workspace_locking', '=', 1)]))
}

/** The same for grants on projects. */
function grantsOnProjects(tx: Transaction, userId: string) {
  return tx.db
    .selectFrom('team_projects as tp')
    .innerJoin('team_members as member', 'member.team_id', 'tp.team_id')
    .where('member.user_id', '=', userId)
    .where('member.is_active', '=', 1)
    .where((eb) =>
      eb.or([
        eb('tp.state_versions', '!=', 'none'),
        eb('tp.workspace_locking', '=', 1),
        eb('tp.workspace_create', '=', 1),
      ]),
    )
}

/**
 * SQL condition: the user sees the workspace through a grant of their teams on it or on its project. It does not list
 * all ids, because a grant on a large project would make that list long.
 */
export function isWorkspaceGranted(tx: Transaction, userId: string): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, 'workspaces'>()
  return eb.or([
    eb('workspaces.id', 'in', grantsOnWorkspaces(tx, userId).select('tw.workspace_id')),
    eb('workspaces.project_id', 'in', grantsOnProjects(tx, userId).select('tp.project_id')),
  ])
}

/** Ids of the workspaces that the user sees through grants of their teams on the workspaces themselves. */
export function grantedWorkspaces(tx: Transaction, userId: string) {
  return grantsOnWorkspaces(tx, userId).select('tw.workspace_id as id')
}

/**
 * SQL condition on the count of one of the projects: the user sees all workspaces of the project, through a grant of their
 * teams on it.
 */
export function isProjectGranted(
  tx: Transaction,
  userId: string,
  projectIds: readonly string[],
): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, 'workspace_counts'>()
  const granted = grantsOnProjects(tx, userId).where('tp.project_id', 'in', projectIds)
  return eb('workspace_counts.project_id', 'in', granted.select('tp.project_id'))
}

/** Ids of the projects on which grants of the user's teams give the right. The same rule as in a decision. */
export function projectsWith(tx: Transaction, userId: string, right: ProjectRight) {
  return grantsOnProjects(tx, userId)
    .where((eb) =>
      right === 'project:manage'
        ? eb('tp.access', '=', 'admin')
        : eb.or([
            eb('tp.access', 'in', ['maintain', 'admin']),
            eb.and([eb('tp.access', '=', 'custom'), eb('tp.workspace_create', '=', 1)]),
          ]),
    )
    .select('tp.project_id as id')
}

/** Ids of the projects that the user sees through grants of their teams, on the project or on a workspace in it. */
export function grantedProjects(tx: Transaction, userId: string) {
  return grantsOnProjects(tx, userId)
    .select('tp.project_id as id')
    .union(
      grantsOnWorkspaces(tx, userId)
        .innerJoin('workspaces as granted', 'granted.id', 'tw.workspace_id')
        .select('granted.project_id as id'),
    )
}
