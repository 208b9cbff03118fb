import { existing } from '../core/existing.ts'
import type { Config } from '../config.ts'
import type { Problem } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import type { Viewer } from '../http/route.ts'
import { refuse } from '../jsonapi/body.ts'
import { makeTags, namesOfTags, type NamedTag } from '../tags/tags.ts'
import { countTags } from './workspace-tag-store.ts'

/** The names of the tags. Creates new tags. Throws 422 for an unknown id, and if the organization then has too many. */
export async function tagsToAdd(
  viewer: Viewer,
  organizationId: string,
  tags: readonly NamedTag[],
  pointer: string,
): Promise<string[]> {
  const found = await namesOfTags(viewer, organizationId, tags)
  const unknown = tags.filter((_, index) => found[index] === undefined)
  const detail = 'id does not name a tag of the organization'
  refuse(unknown.map(({ place }) => ({ detail, pointer: `${pointer}/${place}/id` })))
  const names = tags.flatMap(({ name }) => name ?? [])
  await makeTags(viewer, organizationId, names, pointer)
  return found.map(existing)
}

/** Throws 422 if the workspace has too many tags. */
export async function limitTags(tx: Transaction, { config }: Deps, workspaceId: string): Promise<void> {
  refuse(tooManyTags(await countTags(tx, workspaceId), config, '/data'))
}

/** A problem at `pointer` if one workspace would have `count` tags and that is above the limit. */
export function tooManyTags(count: number, { maxWorkspaceTags }: Config, pointer: string): Problem[] {
  if (count <= maxWorkspaceTags) return []
  const detail = `a workspace may have at most ${maxWorkspaceTags} tags (PURSER_MAX_WORKSPACE_TAGS)`
  return [{ detail, pointer }]
}
