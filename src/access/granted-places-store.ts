import { expressionBuilder, type Expression, type SqlBool } from 'kysely'
import type { Transaction } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'
import { isPermitted, type Standing } from './decide.ts'
import type { Actor } from './actor.ts'

/** Whose list it is: everything, or what the teams of one user were granted. */
export type Reach = 'everything' | { readonly userId: string }

/** What only some levels of a grant on a project let do with the project itself. */
export type ProjectRight = 'project:manage' | 'workspace:create'

/** How far a caller's list of workspaces or projects goes: everything, for whom the table lets do this without a grant. */
export function reachOf(
  permission: 'workspace:read' | 'project:read' | ProjectRight,
  { actor, standing }: { actor: Actor; standing: Standing },
): Reach {
  return isPermitted(permission, actor, standing, {}) ? 'everything' : { userId: actor.userId as string }
}

/**
 * Grants on workspaces that put the user in some column of the table: a custom one that lets do nothing shows nothing.
 * The list form of what `columnsOfGrant` says of one.
 */
function grantsOnWorkspaces(tx: Transaction, userId: string) {
  return tx.db
    .selectFrom('team_workspaces as tw')
    .innerJoin('team_members as member', 'member.team_id', 'tw.team_id')
    .where('member.user_id', '=', userId)
    .where('member.is_active', '=', 1)
    .where((eb) => eb.or([eb('tw.state_versions', '!=', 'none'), eb('tw.workspace_locking', '=', 1)]))
}

/** The same of grants on projects. */
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
 * Whether a workspace is one that a user sees by grants of his teams: on it, or on its project. Not by a list of all their
 * ids, which a grant on a large project would make long.
 */
export function isWorkspaceGranted(tx: Transaction, userId: string): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, 'workspaces'>()
  return eb.or([
    eb('workspaces.id', 'in', grantsOnWorkspaces(tx, userId).select('tw.workspace_id')),
    eb('workspaces.project_id', 'in', grantsOnProjects(tx, userId).select('tp.project_id')),
  ])
}

/** Ids of the projects with which a user may do this by grants of his teams: the list form of what a grant's level gives. */
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

/** Ids of the projects that a user sees by grants of his teams: on them, or on a workspace in them. */
export function grantedProjects(tx: Transaction, userId: string) {
  return grantsOnProjects(tx, userId)
    .select('tp.project_id as id')
    .union(
      grantsOnWorkspaces(tx, userId)
        .innerJoin('workspaces as granted', 'granted.id', 'tw.workspace_id')
        .select('granted.project_id as id'),
    )
}
