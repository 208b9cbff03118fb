import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { deleteSome, ROWS_A_SLICE } from '../database/slices.ts'
import { lockOrganization } from '../organizations/organization-store.ts'
import { deleteProject } from '../projects/project-store.ts'
import { deleteUnusedInvited } from '../users/user-store.ts'
import { deleteWorkspace } from '../workspaces/workspace-store.ts'

/** Few rows per slice, because each chunk of a state is large. */
const PIECES = 50

export async function findDeletedOrganization(tx: Transaction): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom('organizations')
    .where('deleted_at', 'is not', null)
    .select('id')
    .orderBy('deleted_at')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

type Part = (tx: Transaction, organizationId: string) => Promise<boolean>

/** Some rows of a table that other rows do not depend on. */
const rowsOf =
  (table: 'authentication_tokens' | 'tags' | 'refusals'): Part =>
  async (tx, organizationId) =>
    deleteSome(tx, table, sql`organization_id = ${organizationId}`)

function firstOf(tx: Transaction, table: 'workspaces' | 'projects', organizationId: string) {
  const rows = tx.db.selectFrom(table).where('organization_id', '=', organizationId)
  return rows.select('id').limit(1).executeTakeFirst()
}

/** One workspace after another. In each, some state versions at a time; in each of those, the chunks first. */
const deleteOfWorkspaces: Part = async (tx, organizationId) => {
  const workspace = await firstOf(tx, 'workspaces', organizationId)
  if (workspace === undefined) return false
  const rows = await tx.db
    .selectFrom('state_versions')
    .where('workspace_id', '=', workspace.id)
    .select('id')
    .orderBy('serial')
    .limit(PIECES)
    .execute()
  const versions = rows.map(({ id }) => id)
  if (versions.length === 0) {
    if (await deleteSome(tx, 'team_workspaces', sql`workspace_id = ${workspace.id}`)) return true
    await deleteWorkspace(tx, workspace.id)
  } else if (!(await deletePieces(tx, versions))) {
    await tx.db.deleteFrom('state_versions').where('id', 'in', versions).execute()
  }
  return true
}

async function deletePieces(tx: Transaction, versions: readonly string[]): Promise<boolean> {
  const ofVersions = sql<boolean>`state_version_id in (${sql.join(versions)})`
  return (
    (await deleteSome(tx, 'state_chunks', ofVersions, PIECES)) ||
    (await deleteSome(tx, 'output_blocks', ofVersions, PIECES))
  )
}

/** One project after another, once no workspace is left. */
const deleteOfProjects: Part = async (tx, organizationId) => {
  const project = await firstOf(tx, 'projects', organizationId)
  if (project === undefined) return false
  if (await deleteSome(tx, 'team_projects', sql`project_id = ${project.id}`)) return true
  await deleteProject(tx, project.id)
  return true
}

/** Some teams with their service accounts, once no team has members. */
const deleteOfTeams: Part = async (tx, organizationId) => {
  const teams = await tx.db
    .selectFrom('teams')
    .where('organization_id', '=', organizationId)
    .select(['id', 'service_account_id'])
    .orderBy('name')
    .limit(ROWS_A_SLICE)
    .execute()
  if (teams.length === 0) return false
  const teamIds = teams.map(({ id }) => id)
  if (await deleteSome(tx, 'team_members', sql`team_id in (${sql.join(teamIds)})`)) return true
  const accounts = teams.flatMap((team) => team.service_account_id ?? [])
  if (accounts.length > 0) await tx.db.deleteFrom('users').where('id', 'in', accounts).execute()
  await tx.db.deleteFrom('teams').where('id', 'in', teamIds).execute()
  return true
}

/** Some memberships. Also deletes users who were invited here, have no account and are in no other organization. */
const deleteMembers: Part = async (tx, organizationId) => {
  const members = await tx.db
    .selectFrom('memberships')
    .where('organization_id', '=', organizationId)
    .select(['id', 'user_id'])
    .limit(ROWS_A_SLICE)
    .execute()
  if (members.length === 0) return false
  await tx.db
    .deleteFrom('memberships')
    .where(
      'id',
      'in',
      members.map(({ id }) => id),
    )
    .execute()
  await deleteUnusedInvited(
    tx,
    members.map((member) => member.user_id),
  )
  return true
}

const parts = [
  rowsOf('authentication_tokens'),
  deleteOfWorkspaces,
  rowsOf('tags'),
  deleteOfProjects,
  deleteOfTeams,
  deleteMembers,
  rowsOf('refusals'),
]

/** Deletes one slice of a deleted organization's rows. The last call deletes the organization itself. */
export async function deleteSlice(tx: Transaction, organizationId: string): Promise<void> {
  // Another node that deletes the same rows at the same time would make a part look empty.
  await lockOrganization(tx, organizationId)
  for (const part of parts) {
    if (await part(tx, organizationId)) return
  }
  await tx.db.deleteFrom('organizations').where('id', '=', organizationId).execute()
}
