import { sql, type Kysely } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { prepared, type PreparedQuery } from '../database/prepared.ts'
import type { Flag, Tables } from '../database/tables.ts'
import type { Actor } from './actor.ts'
import { columnSet, type ColumnSet } from './decide.ts'
import { sumOfGrants, sumOnProject, type GrantFacts } from './grants.ts'
import { Kept } from './kept.ts'
import type { Standings } from './standing-store.ts'
import type { OrganizationFacts } from './standing.ts'

/** What a user's teams were granted on workspaces. */
function workspaceGrants(db: Kysely<Tables>, userId: string) {
  return db
    .selectFrom('team_workspaces as tw')
    .innerJoin('team_members as member', 'member.team_id', 'tw.team_id')
    .where('member.user_id', '=', userId)
    .where('member.is_active', '=', 1)
    .select((eb) => [
      sql<GrantFacts['on']>`'workspace'`.as('on'),
      eb.ref('tw.access').$castTo<GrantFacts['access']>().as('access'),
      'tw.state_versions',
      'tw.workspace_locking',
      sql<Flag>`0`.as('workspace_create'),
    ])
}

/** What a user's teams were granted on projects. */
function projectGrants(db: Kysely<Tables>, userId: string) {
  return db
    .selectFrom('team_projects as tp')
    .innerJoin('team_members as member', 'member.team_id', 'tp.team_id')
    .where('member.user_id', '=', userId)
    .where('member.is_active', '=', 1)
    .select((eb) => [
      sql<GrantFacts['on']>`'project'`.as('on'),
      eb.ref('tp.access').$castTo<GrantFacts['access']>().as('access'),
      'tp.state_versions',
      'tp.workspace_locking',
      'tp.workspace_create',
    ])
}

const onWorkspace = prepared<{ userId: string; workspaceId: string; projectId: string }>()((db, param) =>
  workspaceGrants(db, param('userId'))
    .where('tw.workspace_id', '=', param('workspaceId'))
    .unionAll(projectGrants(db, param('userId')).where('tp.project_id', '=', param('projectId'))),
)

const onProject = prepared<{ userId: string; projectId: string }>()((db, param) =>
  workspaceGrants(db, param('userId'))
    .innerJoin('workspaces', 'workspaces.id', 'tw.workspace_id')
    .where('workspaces.project_id', '=', param('projectId'))
    .distinct()
    .unionAll(projectGrants(db, param('userId')).where('tp.project_id', '=', param('projectId'))),
)

const inOrganization = prepared<{ userId: string; organizationId: string }>()((db, param) =>
  workspaceGrants(db, param('userId'))
    .where('member.organization_id', '=', param('organizationId'))
    .distinct()
    .unionAll(
      projectGrants(db, param('userId'))
        .where('member.organization_id', '=', param('organizationId'))
        .distinct(),
    ),
)

const MAX_KEPT_GRANTS = 50_000
/** Whom the table lets do as much or more without any grant, and who belongs to no team of the organization. */
const needNone = columnSet('SA', 'OW', 'OG', 'IN', 'OUT')

/**
 * Reads what the grants of callers' teams add up to. A set is kept by (organization, its version, caller, place), which
 * never changes its meaning: every change of a grant or of a team's members raises the version. Only what is committed
 * is kept.
 */
export class Grants {
  readonly #standings: Standings
  readonly #kept = new Kept<ColumnSet>(MAX_KEPT_GRANTS)

  constructor(standings: Standings) {
    this.#standings = standings
  }

  /** The caller's columns on a workspace: by grants on it and on its project. */
  onWorkspace(
    tx: Transaction,
    actor: Actor,
    organization: OrganizationFacts,
    workspace: { id: string; project_id: string },
  ): Promise<ColumnSet> {
    const place = { workspaceId: workspace.id, projectId: workspace.project_id }
    return this.#sum(
      { tx, actor, organization },
      onWorkspace,
      place,
      `${workspace.id} ${workspace.project_id}`,
      sumOfGrants,
    )
  }

  /** The caller's columns on a project; a grant on a workspace in it lets him see the project, no more. */
  onProject(
    tx: Transaction,
    actor: Actor,
    organization: OrganizationFacts,
    projectId: string,
  ): Promise<ColumnSet> {
    return this.#sum({ tx, actor, organization }, onProject, { projectId }, projectId, sumOnProject)
  }

  /** What the caller holds on any workspace or project of the organization: whether a list is for him at all. */
  anywhere(tx: Transaction, actor: Actor, organization: OrganizationFacts): Promise<ColumnSet> {
    return this.#sum(
      { tx, actor, organization },
      inOrganization,
      { organizationId: organization.id },
      '',
      sumOfGrants,
    )
  }

  async #sum<Place extends Record<string, string>>(
    caller: { tx: Transaction; actor: Actor; organization: OrganizationFacts },
    query: PreparedQuery<Place & { userId: string }, GrantFacts>,
    place: Place,
    placeKey: string,
    sumOf: (grants: readonly GrantFacts[]) => ColumnSet,
  ): Promise<ColumnSet> {
    const { tx, actor, organization } = caller
    const { userId } = actor
    if (userId === null) return 0
    const standing = await this.#standings.in(tx, actor, organization)
    if ((standing.columns & needNone) !== 0) return 0
    const key = `${userId} ${placeKey}`
    let sum = this.#kept.get(organization, key)
    if (sum === undefined) {
      sum = sumOf(await tx.all(query, { ...place, userId }))
      if (tx.mode === 'read') this.#kept.set(organization, key, sum)
    }
    return sum
  }
}
