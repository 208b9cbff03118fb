import type { Transaction } from '../database/database.ts'
import { NO_ID } from '../core/ids.ts'
import { prepared } from '../database/prepared.ts'
import { identityOf, type Actor } from './actor.ts'
import { columnSet, type Standing } from './decide.ts'
import { OrganizationCache } from './organization-cache.ts'
import { noStanding, standingOf, type InForce, type OrganizationFacts } from './standing.ts'

const membershipQuery = prepared<{ userId: string; organizationId: string }>()((db, param) =>
  db
    .selectFrom('memberships')
    .where('user_id', '=', param('userId'))
    .where('organization_id', '=', param('organizationId'))
    .select('status'),
)

// No join: where users are in very many teams on average, PostgreSQL would read all teams for somebody who is in one.
const teamsQuery = prepared<{ userId: string; organizationId: string }>()((db, param) =>
  db
    .selectFrom('team_members')
    .where('user_id', '=', param('userId'))
    .where('organization_id', '=', param('organizationId'))
    .where('is_active', '=', 1)
    .select((eb) => {
      const team = eb.selectFrom('teams').whereRef('teams.id', '=', 'team_members.team_id')
      return [
        'team_id as id',
        team.select('is_owners').$asScalar().$notNull().as('is_owners'),
        team.select('organization_access').$asScalar().$notNull().as('organization_access'),
      ]
    }),
)

/** The caller's standing outside any organization, for objects of a user or of the whole site. */
export function standingOutside(actor: Actor): Standing {
  const own = { user: 'OUT', team: 'TT', organization: 'OG' } as const
  return { ...noStanding, columns: columnSet(own[actor.kind]) | (actor.isSiteAdmin ? columnSet('SA') : 0) }
}

/** Limits the total over all cached standings, because a caller may be in very many teams. */
const MAX_CACHED_TEAM_IDS = 300_000
/** The weight of a standing without its team ids. */
const STANDING_WEIGHT = 10

/**
 * Reads the standing of callers in organizations. A standing is cached by organization, version and caller. It never
 * goes stale, so every node may cache it. Only committed data is cached.
 */
export class Standings {
  readonly #cache = new OrganizationCache<Standing>(
    MAX_CACHED_TEAM_IDS,
    ({ teamIds }) => STANDING_WEIGHT + teamIds.size,
  )
  readonly inForce: InForce
  /** The last result, because one request asks for its caller's standing several times. */
  #last: { actor: Actor; organization: OrganizationFacts; standing: Promise<Standing> } | undefined

  constructor(inForce: InForce) {
    this.inForce = inForce
  }

  in(tx: Transaction, actor: Actor, organization: OrganizationFacts): Promise<Standing> {
    const last = this.#last
    // Not in a write: it may change the standing while the two objects stay the same.
    if (last?.actor === actor && last.organization === organization && tx.mode === 'read')
      return last.standing
    const standing = this.#find(tx, actor, organization)
    this.#last = { actor, organization, standing }
    return standing
  }

  async #find(tx: Transaction, actor: Actor, organization: OrganizationFacts): Promise<Standing> {
    const key = `${identityOf(actor)}${actor.isSiteAdmin ? ' admin' : ''}`
    const known = this.#cache.get(organization, key)
    if (known !== undefined) {
      // Run the same statements as an outsider: a hit must take as long as a miss. The number of rows is irrelevant.
      if (tx.spare !== undefined && actor.userId !== null) {
        const values = { userId: actor.userId, organizationId: NO_ID }
        tx.spare(membershipQuery, values)
        tx.spare(teamsQuery, values)
      }
      return known
    }
    const standing = await this.#read(tx, actor, organization)
    if (tx.mode === 'read') this.#cache.set(organization, key, standing)
    return standing
  }

  async #read(tx: Transaction, actor: Actor, organization: OrganizationFacts): Promise<Standing> {
    if (actor.kind === 'organization') {
      if (actor.organizationId !== organization.id) return noStanding
      return { ...noStanding, columns: columnSet('OG'), seesSecretTeams: true }
    }
    const values = { userId: actor.userId, organizationId: organization.id }
    const membership = await tx.first(membershipQuery, values)
    // Only active members have teams. The query runs for others, too, so that a refusal takes the same time.
    const teams = await tx.all(teamsQuery, values)
    const belonging = { kind: actor.kind, isSiteAdmin: actor.isSiteAdmin, status: membership?.status, teams }
    return standingOf(belonging, organization, this.inForce)
  }
}
