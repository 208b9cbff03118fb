// Fills a new data folder with the server's own store functions, so that counters, search index and versions are right.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createUserToken } from '../src/authentication-tokens/tokens.ts'
import { systemClock, timestamp } from '../src/core/clock.ts'
import { newId } from '../src/core/ids.ts'
import type { Database, Transaction } from '../src/database/database.ts'
import { makeLaterIndexes } from '../src/database/later-indexes.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase, type OpenDatabase } from '../src/database/open.ts'
import type { Engine } from '../src/database/portable.ts'
import { AuditKey } from '../src/audit/audit-links.ts'
import { makeFirstUser } from '../src/first-start.ts'
import { insertMembership } from '../src/organization-memberships/membership-store.ts'
import { bumpVersion } from '../src/organizations/organization-store.ts'
import { createOrganization } from '../src/organization-founding/create-organization.ts'
import { insertTeamMember } from '../src/teams/team-member-store.ts'
import { insertTeam } from '../src/teams/team-store.ts'
import { insertUser } from '../src/users/user-store.ts'
import { configOf } from './engine.ts'
import { createBroad, type Broad } from './seed-broad.ts'

export type Person = { id: string; token: string; tokenId: string }

export type SeededTeam = { id: string; name: string; visibility: 'secret' | 'organization' }

export type Organization = {
  id: string
  name: string
  owner: Person
  /** In three teams, one of them secret, and without any flag. */
  member: Person
  memberTeams: SeededTeam[]
  memberMembershipId: string
  teams: SeededTeam[]
}

export type World = {
  folder: string
  adminToken: string
  /** A user in no organization. */
  outsider: Person
  small: Organization
  /** 1,000 and 10,000 teams, for the tables of growth. */
  middle: Organization[]
  large: Organization
  /** 19 teams of 1,000 members each, plus `owners`. */
  crowded: Organization
  /** 10,000 workspaces, one of them with grants for 10,000 teams, and 10,000 members. */
  broad: Broad
}

export const SMALL = 20
export const LARGE = 100_000
const CROWD = 1_000
export const TEAMS_A_TRANSACTION = 2_000
const MEMBERS_A_TEAM = 3

type Plan = { name: string; teams: number; membersOfTeam: number; users: number }

/** Returns the data of an earlier run in the same folder, or creates it. */
export async function seedOnce(engine: Engine, folder: string): Promise<World> {
  const note = join(folder, 'world.json')
  if (existsSync(note)) {
    const world = JSON.parse(readFileSync(note, 'utf8')) as World
    // An older version created less data.
    if (world.broad !== undefined) return world
    throw new Error(`${folder} is of an older seed: delete it`)
  }
  const world = await seed(engine, join(folder, 'data'))
  writeFileSync(note, JSON.stringify(world))
  return world
}

async function seed(engine: Engine, folder: string): Promise<World> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { secretKey } = configOf(engine, folder)
  return withDatabase(engine, folder, async (database, withConnection) => {
    const first = await makeFirstUser(database, systemClock, new AuditKey(secretKey as Buffer), {
      token: undefined,
    })
    const world = await createWorld(database, folder, first?.token as string)
    // PostgreSQL does this by itself, during the first minutes of the measurements.
    if (engine === 'postgres') await withConnection((db) => sql`vacuum analyze`.execute(db))
    return world
  })
}

/** Opens the database, which may be new. */
export async function withDatabase<T>(
  engine: Engine,
  folder: string,
  work: (database: Database, withConnection: OpenDatabase['withConnection']) => Promise<T>,
): Promise<T> {
  const { database, withConnection } = await openDatabase(configOf(engine, folder))
  try {
    await withConnection(migrate)
    await withConnection(makeLaterIndexes)
    return await work(database, withConnection)
  } finally {
    await database.close()
  }
}

async function createWorld(database: Database, folder: string, adminToken: string): Promise<World> {
  const plan = (name: string, teams: number): Plan => ({
    name,
    teams,
    membersOfTeam: MEMBERS_A_TEAM,
    users: 20,
  })
  return {
    folder,
    adminToken,
    outsider: await database.write((tx) => createPerson(tx, 'outsider')),
    small: await createSeeded(database, plan('small', SMALL)),
    middle: [
      await createSeeded(database, plan('teams-1000', 1_000)),
      await createSeeded(database, plan('teams-10000', 10_000)),
    ],
    large: await createSeeded(database, plan('large', LARGE)),
    crowded: await createSeeded(database, { name: 'crowded', teams: 20, membersOfTeam: CROWD, users: CROWD }),
    broad: await createBroad(database),
  }
}

export async function createPerson(tx: Transaction, username: string): Promise<Person> {
  const id = newId('user')
  const now = systemClock.now()
  const email = `${username}@example.com`
  await insertUser(tx, {
    id,
    username,
    username_key: username,
    email,
    email_key: email,
    password_hash: null,
    created_at: timestamp(now),
  })
  const { token, text } = await createUserToken(tx, { userId: id, description: null, now })
  return { id, token: text, tokenId: token.id }
}

export async function createSeeded(database: Database, plan: Plan): Promise<Organization> {
  const at = timestamp(systemClock.now())
  const { organization, crowd } = await database.write(
    async (tx) => {
      const owner = await createPerson(tx, `${plan.name}-owner`)
      const made = await createOrganization(tx, newId, {
        name: plan.name,
        email: 'bench@example.com',
        settings: {},
        ownerId: owner.id,
        at,
      })
      if (made === undefined) throw new Error(`${plan.name} is there already`)
      const member = await createPerson(tx, `${plan.name}-member`)
      const memberMembershipId = newId('membership')
      const membership = { organization_id: made.id, status: 'active', created_at: at } as const
      await insertMembership(tx, { ...membership, id: memberMembershipId, user_id: member.id })
      const crowd: { userId: string; membershipId: string }[] = []
      for (let number = 0; number < plan.users; number += 1) {
        const user = await createPerson(tx, `${plan.name}-user-${number}`)
        const membershipId = newId('membership')
        await insertMembership(tx, { ...membership, id: membershipId, user_id: user.id })
        crowd.push({ userId: user.id, membershipId })
      }
      const organization: Organization = {
        id: made.id,
        name: plan.name,
        owner,
        member,
        memberTeams: [],
        memberMembershipId,
        teams: [],
      }
      return { organization, crowd }
    },
    { isLong: true },
  )
  // Start at 1, because `owners` is one of the teams.
  for (let from = 1; from < plan.teams; from += TEAMS_A_TRANSACTION) {
    const to = Math.min(plan.teams, from + TEAMS_A_TRANSACTION)
    await database.write((tx) => createTeams(tx, organization, crowd.slice(0), { from, to, plan, at }))
  }
  await database.write((tx) => joinTeams(tx, organization))
  return organization
}

async function createTeams(
  tx: Transaction,
  organization: Organization,
  crowd: { userId: string; membershipId: string }[],
  { from, to, plan, at }: { from: number; to: number; plan: Plan; at: string },
): Promise<void> {
  let open = 0
  for (let number = from; number < to; number += 1) {
    // One team in five is secret. The member joins the first three teams, and the first of them is secret.
    const team: SeededTeam = {
      id: newId('team'),
      name: teamName(number),
      visibility: number % 5 === 1 ? 'secret' : 'organization',
    }
    if (team.visibility === 'organization') open += 1
    organization.teams.push(team)
    await insertTeam(tx, {
      id: team.id,
      organization_id: organization.id,
      name: team.name,
      visibility: team.visibility,
      organization_access: 0,
      allow_member_token_management: 1,
      created_at: at,
      updated_at: at,
    })
    for (let place = 0; place < plan.membersOfTeam; place += 1) {
      const { userId, membershipId } = crowd[(number + place) % crowd.length] as (typeof crowd)[number]
      await insertTeamMember(tx, {
        team_id: team.id,
        membership_id: membershipId,
        user_id: userId,
        organization_id: organization.id,
        is_active: 1,
      })
    }
  }
  await bumpVersion(tx, organization.id, to - from, open)
}

async function joinTeams(tx: Transaction, organization: Organization): Promise<void> {
  const secret = organization.teams.filter((team) => team.visibility === 'secret')
  const open = organization.teams.filter((team) => team.visibility === 'organization')
  organization.memberTeams = [secret[0], open[0], open[1]].filter((team) => team !== undefined)
  for (const team of organization.memberTeams) {
    await insertTeamMember(tx, {
      team_id: team.id,
      membership_id: organization.memberMembershipId,
      user_id: organization.member.id,
      organization_id: organization.id,
      is_active: 1,
    })
  }
  await bumpVersion(tx, organization.id)
}

const subjects =
  'network payments identity search billing catalog orders shipping pricing fraud ledger messaging analytics reporting media storage compute database cache gateway edge mobile web desktop partner growth risk legal finance people'.split(
    ' ',
  )
const kinds =
  'core platform api frontend backend data ops security quality release tools infra pipeline batch stream events models audit support research'.split(
    ' ',
  )
const places = 'eu-west eu-north us-east us-west ap-south ap-east sa-east af-south me-central global'.split(
  ' ',
)

/** Realistic names: words that repeat often, made unique by a number. */
export function teamName(number: number): string {
  const pick = (words: readonly string[], factor: number) =>
    words[((Math.imul(number, factor) >>> 8) & 0xffff) % words.length] as string
  return `${pick(subjects, 2_654_435_761)}-${pick(kinds, 40_503)}-${pick(places, 1_597_334_677)}-${number}`
}
