import { sql, type Kysely } from 'kysely'
import { NO_ID } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { amongFew, engineOf } from '../database/portable.ts'
import { prepared, type PreparedQuery } from '../database/prepared.ts'
import type { Flag, Tables } from '../database/tables.ts'
import type { Actor } from './actor.ts'
import { columnSet, type ColumnSet } from './decide.ts'
import { sumOfGrants, sumOnProject, type GrantFacts } from './grants.ts'
import { OrganizationCache } from './organization-cache.ts'
import type { Standings } from './standing-store.ts'
import type { OrganizationFacts } from './standing.ts'

type Holder = { userId: string; organizationId: string }
type Param = <N extends keyof Holder>(name: N) => string

/**
 * The user's teams in the organization. Each query of grants starts here, so that a refusal takes the same time however many
 * grants other teams have.
 */
function theirTeams(db: Kysely<Tables>, param: Param) {
  return db
    .selectFrom('team_members')
    .where('user_id', '=', param('userId'))
    .where('organization_id', '=', param('organizationId'))
    .where('is_active', '=', 1)
}

/** Whether a column is the id of a team that the user is in. */
function ofTheirTeams(db: Kysely<Tables>, column: string, param: Param) {
  return amongFew(engineOf(db), column, theirTeams(db, param).select('team_id'))
}

/** Grants on workspaces. */
function workspaceGrants(db: Kysely<Tables>) {
  return db
    .selectFrom('team_workspaces as tw')
    .select((eb) => [
      sql<GrantFacts['on']>`'workspace'`.as('on'),
      eb.ref('tw.access').$castTo<GrantFacts['access']>().as('access'),
      'tw.state_versions',
      'tw.workspace_locking',
      sql<Flag>`0`.as('workspace_create'),
    ])
}

/** The same for grants on projects. */
function projectGrants(db: Kysely<Tables>) {
  return db
    .selectFrom('team_projects as tp')
    .select((eb) => [
      sql<GrantFacts['on']>`'project'`.as('on'),
      eb.ref('tp.access').$castTo<GrantFacts['access']>().as('access'),
      'tp.state_versions',
      'tp.workspace_locking',
      'tp.workspace_create',
    ])
}

// The grant on one place is looked up for each of the user's teams. PostgreSQL expects few grants on a place, and would
// read the grants of all teams on it.

function ofTheirTeamsOnWorkspace(db: Kysely<Tables>, param: Param, workspaceId: string) {
  const ids = theirTeams(db, param).select((eb) =>
    eb
      .selectFrom('team_workspaces as own')
      .whereRef('own.team_id', '=', 'team_members.team_id')
      .where('own.workspace_id', '=', workspaceId)
      .select('own.id')
      .$asScalar()
      .as('id'),
  )
  return amongFew(engineOf(db), 'tw.id', ids)
}

function ofTheirTeamsOnProject(db: Kysely<Tables>, param: Param, projectId: string) {
  const ids = theirTeams(db, param).select((eb) =>
    eb
      .selectFrom('team_projects as own')
      .whereRef('own.team_id', '=', 'team_members.team_id')
      .where('own.project_id', '=', projectId)
      .select('own.id')
      .$asScalar()
      .as('id'),
  )
  return amongFew(engineOf(db), 'tp.id', ids)
}

const onWorkspace = prepared<Holder & { workspaceId: string; projectId: string }>()((db, param) =>
  workspaceGrants(db)
    .where(ofTheirTeamsOnWorkspace(db, param, param('workspaceId')))
    .unionAll(projectGrants(db).where(ofTheirTeamsOnProject(db, param, param('projectId')))),
)

const onProject = prepared<Holder & { projectId: string }>()((db, param) =>
  workspaceGrants(db)
    .where(ofTheirTeams(db, 'tw.team_id', param))
    .innerJoin('workspaces', 'workspaces.id', 'tw.workspace_id')
    // `|| ''` keeps the database from using the index on project_id: a project may hold very many workspaces.
    .where(sql<string>`workspaces.project_id || ''`, '=', param('projectId'))
    .distinct()
    .unionAll(projectGrants(db).where(ofTheirTeamsOnProject(db, param, param('projectId')))),
)

const inOrganization = prepared<Holder>()((db, param) =>
  workspaceGrants(db)
    .where(ofTheirTeams(db, 'tw.team_id', param))
    .distinct()
    .unionAll(
      projectGrants(db)
        .where(ofTheirTeams(db, 'tp.team_id', param))
        .distinct(),
    ),
)

const MAX_CACHED_GRANTS = 50_000
/** In these columns a caller needs no grant, or belongs to no team of the organization. */
const needNone = columnSet('SA', 'OW', 'OG', 'IN', 'OUT')

/**
 * Reads and sums the grants of the caller's teams. A sum is cached by organization, version, caller and place. It never
 * goes stale: every change of a grant or of a team's members raises the version. Only committed data is cached.
 */
export class Grants {
  readonly #standings: Standings
  readonly #cache = new OrganizationCache<ColumnSet>(MAX_CACHED_GRANTS)

  constructor(standings: Standings) {
    this.#standings = standings
  }

  /** The caller's columns on a workspace, from grants on it and on its project. */
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

  /** The caller's columns on a project. A grant on a workspace in it only lets the caller see the project. */
  onProject(
    tx: Transaction,
    actor: Actor,
    organization: OrganizationFacts,
    projectId: string,
  ): Promise<ColumnSet> {
    return this.#sum({ tx, actor, organization }, onProject, { projectId }, projectId, sumOnProject)
  }

  /** The caller's columns on any workspace or project of the organization. Decides whether they may list at all. */
  anywhere(tx: Transaction, actor: Actor, organization: OrganizationFacts): Promise<ColumnSet> {
    return this.#sum({ tx, actor, organization }, inOrganization, {}, '', sumOfGrants)
  }

  async #sum<Place extends Record<string, string>>(
    caller: { tx: Transaction; actor: Actor; organization: OrganizationFacts },
    query: PreparedQuery<Place & Holder, GrantFacts>,
    place: Place,
    placeKey: string,
    sumOf: (grants: readonly GrantFacts[]) => ColumnSet,
  ): Promise<ColumnSet> {
    const { tx, actor, organization } = caller
    const { userId } = actor
    if (userId === null) return 0
    const standing = await this.#standings.in(tx, actor, organization)
    const key = `${userId} ${placeKey}`
    // An act may name objects in its body. There is no cache for them: the sums of hidden ones may be in it, of missing ones
    // they are not.
    const isInAct = tx.mode === 'write' && tx.spare === undefined
    const isNeeded = (standing.columns & needNone) === 0
    let known: ColumnSet | undefined = isNeeded ? undefined : 0
    if (isNeeded && !isInAct) known = this.#cache.get(organization, key)
    if (known !== undefined) {
      tx.spare?.(query, { ...place, userId, organizationId: NO_ID })
      return known
    }
    const sum = sumOf(await tx.all(query, { ...place, userId, organizationId: organization.id }))
    if (tx.mode === 'read') this.#cache.set(organization, key, sum)
    return sum
  }
}
