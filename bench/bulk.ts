// Makes many rows at once, for the measurements of growth.
import type { Insertable } from 'kysely'
import { systemClock, timestamp } from '../src/core/clock.ts'
import { newId } from '../src/core/ids.ts'
import type { Database } from '../src/database/database.ts'
import type { Tables } from '../src/database/tables.ts'
import { bumpVersion, findOrganization } from '../src/organizations/organization-store.ts'
import { createSeeded, teamName, type Organization } from './seed.ts'

const ROWS_A_STATEMENT = 500
const ROWS_A_TRANSACTION = 5_000

type TableName = 'teams' | 'workspaces' | 'users' | 'memberships' | 'team_members'

/** Inserts `count` rows, in many transactions. */
async function insertMany<T extends TableName>(
  database: Database,
  table: T,
  count: number,
  row: (number: number) => Insertable<Tables[T]>,
): Promise<void> {
  for (let from = 0; from < count; from += ROWS_A_TRANSACTION) {
    const end = Math.min(count, from + ROWS_A_TRANSACTION)
    await database.write(
      async ({ db }) => {
        for (let at = from; at < end; at += ROWS_A_STATEMENT) {
          const rows = Array.from({ length: Math.min(ROWS_A_STATEMENT, end - at) }, (_, n) => row(at + n))
          await db.insertInto(table).values(rows).execute()
        }
      },
      { isLong: true },
    )
  }
}

function organizationOf(database: Database, name: string): Promise<Organization> {
  return createSeeded(database, { name, teams: 5, membersOfTeam: 0, users: 0 })
}

/** An organization with this many teams more, all of them secret. */
export async function withTeams(database: Database, count: number): Promise<Organization> {
  const organization = await organizationOf(database, `grown-teams-${count}`)
  const at = timestamp(systemClock.now())
  await insertMany(database, 'teams', count, (number) => ({
    id: newId('team'),
    organization_id: organization.id,
    name: `grown-${teamName(number)}`,
    visibility: 'secret' as const,
    organization_access: 0,
    allow_member_token_management: 1 as const,
    created_at: at,
    updated_at: at,
  }))
  await database.write((tx) => bumpVersion(tx, organization.id, count))
  return organization
}

export type WithWorkspaces = {
  readonly organization: Organization
  readonly workspaceId: string
  readonly projectId: string
}

/** An organization with this many workspaces, all of them in its default project. */
export async function withWorkspaces(database: Database, count: number): Promise<WithWorkspaces> {
  const organization = await organizationOf(database, `grown-workspaces-${count}`)
  const found = await database.read((tx) => findOrganization(tx, organization.id))
  if (found === undefined) throw new Error(`${organization.name} is not there`)
  const projectId = found.default_project_id
  const at = timestamp(systemClock.now())
  const ids = Array.from({ length: count }, () => newId('workspace'))
  await insertMany(database, 'workspaces', count, (number) => ({
    id: ids[number] ?? '',
    organization_id: organization.id,
    project_id: projectId,
    name: teamName(number),
    terraform_version: 'latest',
    settings: '{}',
    created_at: at,
    updated_at: at,
  }))
  await database.write((tx) => bumpVersion(tx, organization.id))
  return { organization, workspaceId: ids[0] ?? '', projectId }
}

export type WithMembers = { readonly organization: Organization; readonly membershipId: string }

/** An organization with this many members, who are all in its last team. */
export async function withMembers(database: Database, count: number): Promise<WithMembers> {
  const organization = await organizationOf(database, `grown-members-${count}`)
  const team = organization.teams.at(-1)
  if (team === undefined) throw new Error(`${organization.name} has no team`)
  const at = timestamp(systemClock.now())
  const people = Array.from({ length: count }, () => ({ id: newId('user'), membership: newId('membership') }))
  const person = (number: number) => people[number] ?? { id: '', membership: '' }
  await insertMany(database, 'users', count, (number) => {
    const username = `grown-${count}-${number}`
    return { id: person(number).id, username, username_key: username, created_at: at }
  })
  await insertMany(database, 'memberships', count, (number) => ({
    id: person(number).membership,
    organization_id: organization.id,
    user_id: person(number).id,
    status: 'active' as const,
    created_at: at,
  }))
  await insertMany(database, 'team_members', count, (number) => ({
    team_id: team.id,
    membership_id: person(number).membership,
    user_id: person(number).id,
    organization_id: organization.id,
    is_active: 1 as const,
  }))
  await database.write(async (tx) => {
    await tx.db.updateTable('teams').set({ users_count: count }).where('id', '=', team.id).execute()
    await bumpVersion(tx, organization.id)
  })
  return { organization, membershipId: person(0).membership }
}
