import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import { isTextIn } from '../database/portable.ts'
import { prepared } from '../database/prepared.ts'
import type { WorkspaceRow } from './workspace-store.ts'

type Place = Pick<WorkspaceRow, 'id' | 'organization_id'>

const tagsNamed = ({ db }: Transaction, { organization_id: id }: Place, names: readonly string[]) =>
  db.selectFrom('tags').where('organization_id', '=', id).where('name', 'in', names)

/** Adds the tags that the workspace does not have yet. The organization must have them. */
export async function addTags(tx: Transaction, workspace: Place, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await tx.db
    .insertInto('workspace_tags')
    .columns(['workspace_id', 'tag_id'])
    .expression(
      tagsNamed(tx, workspace, names).select((eb) => [
        eb.val(workspace.id).as('workspace_id'),
        'id as tag_id',
      ]),
    )
    .onConflict((conflict) => conflict.columns(['workspace_id', 'tag_id']).doNothing())
    .execute()
}

export async function removeTags(tx: Transaction, workspace: Place, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await tx.db
    .deleteFrom('workspace_tags')
    .where('workspace_id', '=', workspace.id)
    .where('tag_id', 'in', tagsNamed(tx, workspace, names).select('id'))
    .execute()
}

const selectTags = ({ db }: Pick<Transaction, 'db'>) =>
  db.selectFrom('workspace_tags').innerJoin('tags', 'tags.id', 'workspace_tags.tag_id')

const tagsOfWorkspaces = prepared<{ workspaceIds: string }>()((db, param, engine) =>
  selectTags({ db })
    .where(isTextIn(engine, 'workspace_tags.workspace_id', param('workspaceIds')))
    .select(['workspace_tags.workspace_id', 'tags.name'])
    .orderBy('tags.name'),
)

export async function countTags(tx: Transaction, workspaceId: string): Promise<number> {
  return countOf(selectTags(tx).where('workspace_tags.workspace_id', '=', workspaceId))
}

/** The tag names of each workspace, sorted. A workspace without tags is not in the map. */
export async function tagNamesOf(
  tx: Transaction,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const names = new Map<string, string[]>()
  if (workspaceIds.length === 0) return names
  const rows = await tx.all(tagsOfWorkspaces, { workspaceIds: JSON.stringify(workspaceIds) })
  for (const { workspace_id: id, name } of rows) {
    const known = names.get(id)
    if (known === undefined) names.set(id, [name])
    else known.push(name)
  }
  return names
}
