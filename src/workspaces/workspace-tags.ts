import { invalid } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import type { Viewer } from '../http/route.ts'
import { makeTags, namesOfTags, refuseUnknown, type NamedTag } from '../tags/tags.ts'
import { addTags, countTags } from './workspace-tag-store.ts'

type Place = { readonly organizationId: string; readonly workspaceId: string; readonly pointer: string }

/** Tags a workspace, with new tags too; throws 422 for an id that names no tag, and when there are more than may be. */
export async function tagWorkspace(
  viewer: Viewer,
  { organizationId, workspaceId, pointer }: Place,
  tags: readonly NamedTag[],
): Promise<string[]> {
  const found = await namesOfTags(viewer, organizationId, tags)
  refuseUnknown(tags, found, 'must be the id of a tag of the organization', pointer)
  const names = found as string[]
  await makeTags(
    viewer,
    organizationId,
    tags.flatMap(({ name }) => name ?? []),
  )
  await addTags(viewer.tx, workspaceId, names)
  await limitTags(viewer.tx, viewer.deps, workspaceId)
  return names
}

/** Throws when the workspace has more tags than it may. */
export async function limitTags(tx: Transaction, { config }: Deps, workspaceId: string): Promise<void> {
  const { maxWorkspaceTags } = config
  if ((await countTags(tx, workspaceId)) > maxWorkspaceTags) {
    throw invalid(`a workspace may have at most ${maxWorkspaceTags} tags`, '/data')
  }
}
