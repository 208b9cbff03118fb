import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { deleteUnusedInvited } from '../users/user-store.ts'

/** Rows that one transaction deletes at most, but for what hangs on them by a foreign key: a few each. */
const SLICE = 500
/** A state's pieces are large. */
const PIECES = 50

/** From now on it is there for nobody, its tokens are void and its name is free. */
export async function markDeleted(tx: Transaction, id: string, at: string): Promise<void> {
  await tx.db
    .updateTable('organizations')
    // No organization can be called so.
    .set({ name: `${id}:deleted`, deleted_at: at, version: sql`version + 1` })
    .where('id', '=', id)
    .execute()
}

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

/** Some rows of a table on which nothing else hangs that has to go before. */
const rowsOf =
  (table: 'authentication_tokens' | 'tags' | 'projects' | 'refusals', key: 'id' | 'number'): Part =>
  async (tx, organizationId) => {
    const result = await sql`
      delete from ${sql.table(table)} where ${sql.ref(key)} in
        (select ${sql.ref(key)} from ${sql.table(table)} where organization_id = ${organizationId} limit ${SLICE})
    `.execute(tx.db)
    return (result.numAffectedRows ?? 0n) > 0n
  }

/** A workspace after the other, of each some state versions after the others, of those first the pieces. */
const deleteOfWorkspaces: Part = async (tx, organizationId) => {
  const workspace = await tx.db
    .selectFrom('workspaces')
    .where('organization_id', '=', organizationId)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  if (workspace === undefined) return false
  const versions = await idsOf(
    tx.db
      .selectFrom('state_versions')
      .where('workspace_id', '=', workspace.id)
      .select('id')
      .orderBy('serial')
      .limit(PIECES),
  )
  if (versions.length === 0) {
    await tx.db.deleteFrom('workspaces').where('id', '=', workspace.id).execute()
  } else if (!(await deletePieces(tx, versions))) {
    await tx.db.deleteFrom('state_versions').where('id', 'in', versions).execute()
  }
  return true
}

async function deletePieces(tx: Transaction, versions: readonly string[]): Promise<boolean> {
  const chunks = await tx.db
    .deleteFrom('state_chunks')
    .where((eb) =>
      eb(
        eb.refTuple('state_version_id', 'kind', 'upload_id', 'number'),
        'in',
        eb
          .selectFrom('state_chunks')
          .where('state_version_id', 'in', versions)
          .select(['state_version_id', 'kind', 'upload_id', 'number'])
          .limit(PIECES)
          .$asTuple('state_version_id', 'kind', 'upload_id', 'number'),
      ),
    )
    .executeTakeFirst()
  if (chunks.numDeletedRows > 0n) return true
  const blocks = await tx.db
    .deleteFrom('output_blocks')
    .where((eb) =>
      eb(
        eb.refTuple('state_version_id', 'first_position'),
        'in',
        eb
          .selectFrom('output_blocks')
          .where('state_version_id', 'in', versions)
          .select(['state_version_id', 'first_position'])
          .limit(PIECES)
          .$asTuple('state_version_id', 'first_position'),
      ),
    )
    .executeTakeFirst()
  return blocks.numDeletedRows > 0n
}

/** Some teams with their service accounts, once nobody is in them any more. */
const deleteOfTeams: Part = async (tx, organizationId) => {
  const teams = await tx.db
    .selectFrom('teams')
    .where('organization_id', '=', organizationId)
    .select(['id', 'service_account_id'])
    .orderBy('name')
    .limit(SLICE)
    .execute()
  if (teams.length === 0) return false
  const teamIds = teams.map(({ id }) => id)
  const members = await tx.db
    .deleteFrom('team_members')
    .where((eb) =>
      eb(
        eb.refTuple('team_id', 'user_id'),
        'in',
        eb
          .selectFrom('team_members')
          .where('team_id', 'in', teamIds)
          .select(['team_id', 'user_id'])
          .limit(SLICE)
          .$asTuple('team_id', 'user_id'),
      ),
    )
    .executeTakeFirst()
  if (members.numDeletedRows > 0n) return true
  const accounts = teams.flatMap((team) => team.service_account_id ?? [])
  if (accounts.length > 0) await tx.db.deleteFrom('users').where('id', 'in', accounts).execute()
  await tx.db.deleteFrom('teams').where('id', 'in', teamIds).execute()
  return true
}

/** Some memberships, with those users who were invited here, never had an account and are nowhere else. */
const deleteMembers: Part = async (tx, organizationId) => {
  const members = await tx.db
    .selectFrom('memberships')
    .where('organization_id', '=', organizationId)
    .select(['id', 'user_id'])
    .limit(SLICE)
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
  rowsOf('authentication_tokens', 'id'),
  deleteOfWorkspaces,
  rowsOf('tags', 'id'),
  deleteOfTeams,
  deleteMembers,
  rowsOf('projects', 'id'),
  rowsOf('refusals', 'number'),
]

/** Deletes some of what a deleted organization still holds, and at last itself: then there is none of it. */
export async function deleteSlice(tx: Transaction, organizationId: string): Promise<void> {
  for (const part of parts) {
    if (await part(tx, organizationId)) return
  }
  await tx.db.deleteFrom('organizations').where('id', '=', organizationId).execute()
}

async function idsOf(query: { execute: () => Promise<{ id: string }[]> }): Promise<string[]> {
  return (await query.execute()).map(({ id }) => id)
}
