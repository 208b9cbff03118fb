import { OrganizationCache } from '../access/organization-cache.ts'
import type { Transaction } from '../database/database.ts'
import { ReadAgain } from '../database/read-again.ts'
import { findOrganization, type OrganizationRow } from '../organizations/organization-store.ts'
import { peopleIn, type GivingTeam, type Person } from './access-holder-store.ts'

/** More memberships than this are read beside other requests, and are cached. */
const MEMBERSHIPS_AT_ONCE = 2_000
/** Limits the memory: the people of all cached lists together. */
const MAX_CACHED_PEOPLE = 300_000

type Asked = {
  readonly organization: OrganizationRow
  readonly teams: readonly GivingTeam[]
  /** Names the question. */
  readonly key: string
  /** Finds the teams again, in another transaction. */
  readonly teamsIn: (tx: Transaction, organization: OrganizationRow) => Promise<GivingTeam[]>
}

/** The people in the teams with access to a place. A list is cached with the organization's version. */
export class PeopleOfTeams {
  readonly #cache = new OrganizationCache<readonly Person[]>(MAX_CACHED_PEOPLE, ({ length }) => length)

  /** By user name. If the teams are large, throws ReadAgain, or reads all at once without `mayReadAgain`. */
  async in(
    tx: Transaction,
    { organization, teams, key, teamsIn }: Asked,
    mayReadAgain: boolean,
  ): Promise<readonly Person[]> {
    const known = this.#cache.get(organization, key)
    if (known !== undefined) return known
    const memberships = teams.reduce((sum, team) => sum + team.users_count, 0)
    if (memberships <= MEMBERSHIPS_AT_ONCE || !mayReadAgain) return peopleIn(tx, teams)
    const { id } = organization
    throw new ReadAgain((database) =>
      database.read(
        async (slow) => {
          const now = await findOrganization(slow, id)
          if (now !== undefined) this.#cache.set(now, key, await peopleIn(slow, await teamsIn(slow, now)))
        },
        { organizationId: id, isSlow: true },
      ),
    )
  }
}
