import type { Transaction } from '../database/database.ts'

/** Adds those that the workspace does not have yet. */
export async function addTags(
  tx: Transaction,
  organizationId: string,
  workspaceId: string,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  await tx.db
    .insertInto('workspace_tags')
    .values(
      [...new Set(names)].map((name) => ({
        workspace_id: workspaceId,
        name,
        organization_id: organizationId,
      })),
    )
    .onConflict((conflict) => conflict.columns(['workspace_id', 'name']).doNothing())
    .execute()
}

export async function removeTags(
  tx: Transaction,
  workspaceId: string,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  await tx.db
    .deleteFrom('workspace_tags')
    .where('workspace_id', '=', workspaceId)
    .where('name', 'in', names)
    .execute()
}

export async function countTags(tx: Transaction, workspaceId: string): Promise<number> {
  const { count } = await tx.db
    .selectFrom('workspace_tags')
    .where('workspace_id', '=', workspaceId)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** The tags of each of the workspaces that has any, by name. */
export async function tagNamesOf(
  tx: Transaction,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const names = new Map<string, string[]>()
  if (workspaceIds.length === 0) return names
  const rows = await tx.db
    .selectFrom('workspace_tags')
    .where('workspace_id', 'in', workspaceIds)
    .selectAll()
    .orderBy('name')
    .execute()
  for (const { workspace_id: id, name } of rows) {
    const known = names.get(id)
    if (known === undefined) names.set(id, [name])
    else known.push(name)
  }
  return names
}
