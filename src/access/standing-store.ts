import type { Transaction } from '../database/database.ts'
import { NO_ID } from '../core/ids.ts'
import { prepared } from '../database/prepared.ts'
import type { Actor } from './actor.ts'
import { columnSet, type Standing } from './decide.ts'
import { Kept } from './kept.ts'
import { allFlags } from './organization-flags.ts'
import { standingOf, type InForce, type OrganizationFacts } from './standing.ts'

const membershipQuery = prepared<{ userId: string; organizationId: string }>()((db, param) =>
  db
    .selectFrom('memberships')
    .where('user_id', '=', param('userId'))
    .where('organization_id', '=', param('organizationId'))
    .select('status'),
)

const teamsQuery = prepared<{ userId: string; organizationId: string }>()((db, param) =>
  db
    .selectFrom('team_members')
    .innerJoin('teams', 'teams.id', 'team_members.team_id')
    .where('team_members.user_id', '=', param('userId'))
    .where('team_members.organization_id', '=', param('organizationId'))
    .where('team_members.is_active', '=', 1)
    .select(['teams.id', 'teams.is_owners', 'teams.organization_access']),
)

const nothing: Standing = {
  columns: 0,
  teamIds: new Set(),
  flags: 0,
  lacks: allFlags,
  seesSecretTeams: false,
  membersManageTokens: false,
}

/** Where a caller stands outside any organization: for what belongs to a user or to the whole site. */
export function standingOutside(actor: Actor): Standing {
  const own = { user: 'OUT', team: 'TT', organization: 'OG' } as const
  return { ...nothing, columns: columnSet(own[actor.kind]) | (actor.isSiteAdmin ? columnSet('SA') : 0) }
}

/** Of all standings that are kept: somebody may be in very many teams. */
const MAX_KEPT_TEAM_IDS = 300_000
/** What a standing weighs beside the ids of its teams. */
const STANDING_WEIGHT = 10

/**
 * Reads where callers stand in organizations. A standing is kept by (organization, its version, caller), which never
 * changes its meaning, so any node may keep it. Only what is committed is kept.
 */
export class Standings {
  readonly #kept = new Kept<Standing>(MAX_KEPT_TEAM_IDS, ({ teamIds }) => STANDING_WEIGHT + teamIds.size)
  readonly inForce: InForce
  /** One request asks for its caller's more than once. */
  #last: { actor: Actor; organization: OrganizationFacts; standing: Promise<Standing> } | undefined

  constructor(inForce: InForce) {
    this.inForce = inForce
  }

  in(tx: Transaction, actor: Actor, organization: OrganizationFacts): Promise<Standing> {
    const last = this.#last
    // What is being written may change while these stay the same.
    if (last?.actor === actor && last.organization === organization && tx.mode === 'read')
      return last.standing
    const standing = this.#find(tx, actor, organization)
    this.#last = { actor, organization, standing }
    return standing
  }

  async #find(tx: Transaction, actor: Actor, organization: OrganizationFacts): Promise<Standing> {
    const key = `${actor.kind} ${actor.userId ?? actor.organizationId}${actor.isSiteAdmin ? ' admin' : ''}`
    const kept = this.#kept.get(organization, key)
    if (kept !== undefined) {
      // Made up for by an outsider's: the size of what is kept is of no account.
      if (tx.spare !== undefined && actor.userId !== null) {
        const values = { userId: actor.userId, organizationId: NO_ID }
        tx.spare(membershipQuery, values)
        tx.spare(teamsQuery, values)
      }
      return kept
    }
    const standing = await this.#read(tx, actor, organization)
    if (tx.mode === 'read') this.#kept.set(organization, key, standing)
    return standing
  }

  async #read(tx: Transaction, actor: Actor, organization: OrganizationFacts): Promise<Standing> {
    if (actor.kind === 'organization') {
      if (actor.organizationId !== organization.id) return nothing
      return { ...nothing, columns: columnSet('OG'), seesSecretTeams: true }
    }
    const values = { userId: actor.userId as string, organizationId: organization.id }
    const membership = await tx.first(membershipQuery, values)
    // Of whoever is no active member there are none: asked for all the same, so that a refusal costs the same.
    const teams = await tx.all(teamsQuery, values)
    const belonging = { kind: actor.kind, isSiteAdmin: actor.isSiteAdmin, status: membership?.status, teams }
    return standingOf(belonging, organization, this.inForce)
  }
}
