// Makes many rows at once, for the measurements of growth.
import type { Insertable } from 'kysely'
import { existing } from '../src/core/existing.ts'
import { newId } from '../src/core/ids.ts'
import type { Database } from '../src/database/database.ts'
import type { Tables } from '../src/database/tables.ts'
import { bumpVersion, findOrganization } from '../src/organizations/organization-store.ts'
import { toColumns } from '../src/team-access/team-workspace-store.ts'
import { changeWorkspaceGrant } from '../src/team-access/workspace-levels.ts'
import { createSeeded, teamName, type Organization } from './seed.ts'

const ROWS_A_STATEMENT = 500
const ROWS_A_TRANSACTION = 5_000

export const OLD = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }

type TableName =
  | 'organizations'
  | 'projects'
  | 'teams'
  | 'workspaces'
  | 'users'
  | 'memberships'
  | 'team_members'
  | 'team_workspaces'
  | 'team_projects'
  | 'authentication_tokens'
  | 'sessions'
  | 'tags'
  | 'workspace_tags'
  | 'state_versions'
  | 'audit_events'

/** Inserts `count` rows, in many transactions. */
export async function insertMany<T extends TableName>(
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

/** An organization with an owner, a member and five teams. */
export function organizationOf(database: Database, name: string): Promise<Organization> {
  return createSeeded(database, { name, teams: 5, membersOfTeam: 0, users: 0 })
}

export async function defaultProjectOf(database: Database, { id, name }: Organization): Promise<string> {
  const found = await database.read((tx) => findOrganization(tx, id))
  if (found === undefined) throw new Error(`${name} is not there`)
  return found.default_project_id
}

/** One workspace of the organization, without a state. */
export async function addWorkspace(database: Database, organization: Organization): Promise<string> {
  const projectId = await defaultProjectOf(database, organization)
  const id = newId('workspace')
  await insertMany(database, 'workspaces', 1, () => workspaceRow(organization.id, projectId, id, 'alone'))
  return id
}

export function workspaceRow(organizationId: string, projectId: string, id: string, name: string) {
  return {
    ...OLD,
    id,
    organization_id: organizationId,
    project_id: projectId,
    name,
    terraform_version: 'latest',
    settings: '{}',
  }
}

/** Adds a tag, and gives it to these workspaces. Returns its id. */
export async function addTag(
  database: Database,
  organizationId: string,
  name: string,
  workspaceIds: readonly string[],
): Promise<string> {
  const tagId = newId('tag')
  const tag = { id: tagId, organization_id: organizationId, name, created_at: OLD.created_at }
  await insertMany(database, 'tags', 1, () => tag)
  await insertMany(database, 'workspace_tags', workspaceIds.length, (number) => ({
    workspace_id: workspaceIds[number] ?? '',
    tag_id: tagId,
  }))
  return tagId
}

export function readGrant(organizationId: string, teamId: string, workspaceId: string) {
  return {
    id: newId('teamWorkspace'),
    organization_id: organizationId,
    team_id: teamId,
    workspace_id: workspaceId,
    ...toColumns(changeWorkspaceGrant(undefined, { access: 'read', details: {} })),
    created_at: OLD.created_at,
  }
}

/** Adds this many secret teams, and returns their ids. */
export async function addTeams(database: Database, organizationId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('team'))
  await insertMany(database, 'teams', count, (number) => ({
    ...OLD,
    id: ids[number] ?? '',
    organization_id: organizationId,
    name: `grown-${teamName(number)}`,
    visibility: 'secret' as const,
    organization_access: 0,
    allow_member_token_management: 1 as const,
  }))
  await database.write((tx) => bumpVersion(tx, organizationId, count))
  return ids
}

export type WithTeams = { readonly organization: Organization; readonly ids: readonly string[] }

/** An organization with this many secret teams more, and their ids. */
export async function withTeams(database: Database, count: number): Promise<WithTeams> {
  const organization = await organizationOf(database, `grown-teams-${count}`)
  return { organization, ids: await addTeams(database, organization.id, count) }
}

/** Adds a workspace, and this many secret teams that may read it. Returns their ids. */
export async function addTeamsOfWorkspace(
  database: Database,
  organization: Organization,
  count: number,
): Promise<{ workspaceId: string; idOf: (number: number) => string }> {
  const workspaceId = await addWorkspace(database, organization)
  const ids = await addTeams(database, organization.id, count)
  const idOf = (number: number) => ids[number] ?? ''
  await insertMany(database, 'team_workspaces', count, (number) =>
    readGrant(organization.id, idOf(number), workspaceId),
  )
  return { workspaceId, idOf }
}

export type WithTeamsOfWorkspace = { readonly organization: Organization; readonly workspaceId: string }

/** An organization with this many secret teams more. Each has a token, and may read the same workspace. */
export async function withTeamsOfWorkspace(database: Database, count: number): Promise<WithTeamsOfWorkspace> {
  const organization = await organizationOf(database, `granted-teams-${count}`)
  const { workspaceId, idOf } = await addTeamsOfWorkspace(database, organization, count)
  await insertMany(database, 'authentication_tokens', count, (number) => ({
    id: newId('token'),
    hash: idOf(number),
    kind: 'team' as const,
    team_id: idOf(number),
    organization_id: organization.id,
    created_at: OLD.created_at,
    expires_at: '2030-01-01T00:00:00.000Z',
  }))
  return { organization, workspaceId }
}

export type WithWorkspaces = {
  readonly organization: Organization
  readonly workspaceIds: readonly string[]
  readonly projectId: string
}

/**
 * An organization with this many workspaces, all of them in its default project and with the same tag. A team of the member
 * has a grant on each of them.
 */
export async function withWorkspaces(database: Database, count: number): Promise<WithWorkspaces> {
  const organization = await organizationOf(database, `grown-workspaces-${count}`)
  const added = await addWorkspaces(database, organization, count)
  await addTag(database, organization.id, 'common', added.workspaceIds)
  return { organization, ...added }
}

/** Adds this many workspaces to the default project. A team of the member has a grant on each of them. */
export async function addWorkspaces(database: Database, organization: Organization, count: number) {
  const projectId = await defaultProjectOf(database, organization)
  const workspaceIds = Array.from({ length: count }, () => newId('workspace'))
  const idOf = (number: number) => workspaceIds[number] ?? ''
  await insertMany(database, 'workspaces', count, (number) =>
    workspaceRow(organization.id, projectId, idOf(number), teamName(number)),
  )
  const teamId = organization.memberTeams[1]?.id ?? ''
  const grants = workspaceIds.map((id) => readGrant(organization.id, teamId, id))
  await insertMany(database, 'team_workspaces', count, (number) => existing(grants[number]))
  await database.write((tx) => bumpVersion(tx, organization.id))
  return { workspaceIds, projectId, workspaceGrantIds: grants.map(({ id }) => id) }
}

export type WithVersions = {
  readonly organization: Organization
  readonly workspaceId: string
  readonly newestId: string
}

/** An organization with one workspace, which has this many state versions without content. */
export async function withStateVersions(database: Database, count: number): Promise<WithVersions> {
  const organization = await organizationOf(database, `grown-versions-${count}`)
  const workspaceId = await addWorkspace(database, organization)
  const ids = Array.from({ length: count }, () => newId('stateVersion'))
  const newestId = ids.at(-1) ?? ''
  await insertMany(database, 'state_versions', count, (number) => ({
    id: ids[number] ?? '',
    workspace_id: workspaceId,
    number: number + 1,
    organization_id: organization.id,
    output_key: `${count}-${number}`,
    serial: number + 1,
    md5: '',
    status: 'finalized' as const,
    resources_processed: 1 as const,
    wrapped_key: new Uint8Array(),
    created_at: OLD.created_at,
    finalized_at: OLD.created_at,
  }))
  await database.write(async (tx) => {
    const current = { current_state_version_id: newestId }
    await tx.db.updateTable('workspaces').set(current).where('id', '=', workspaceId).execute()
    await bumpVersion(tx, organization.id)
  })
  return { organization, workspaceId, newestId }
}

/** An organization with this many audit events, one in a hundred of which creates a team. */
export async function withEvents(database: Database, count: number): Promise<Organization> {
  const organization = await organizationOf(database, `grown-events-${count}`)
  await insertMany(database, 'audit_events', count, (number) => ({
    at: OLD.created_at,
    actor_kind: 'user' as const,
    actor_id: organization.owner.id,
    actor_name: 'owner',
    action: number % 100 === 0 ? 'team.create' : 'team.update',
    organization_id: organization.id,
    resource_type: 'teams',
    resource_id: organization.teams[0]?.id ?? '',
    details: '{}',
    position: number + 1,
    mac: new Uint8Array(16),
  }))
  await database.write((tx) =>
    tx.db
      .insertInto('audit_chains')
      .values({
        organization_id: organization.id,
        position: count,
        at: OLD.created_at,
        link: new Uint8Array(32),
        start_position: 0,
        start: new Uint8Array(),
        oldest_at: OLD.created_at,
      })
      .execute(),
  )
  return organization
}
