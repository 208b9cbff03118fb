import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalid } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { parseJson } from '../jsonapi/body.ts'
import { countTags } from './workspace-tag-store.ts'

/** A tag is a name alone: OpenTofu's `cloud` block finds the workspaces of a configuration by some of them. */
const namePattern = /^[A-Za-z0-9]([A-Za-z0-9:_-]{0,253}[A-Za-z0-9])?$/
const MAX_TAGS_IN_A_REQUEST = 1000
const explain =
  'must be {"data": [{"type": "tags", "attributes": {"name": …}}, …]}, with names of 1 to 255 ASCII letters, digits, ' +
  `colons, - and _, that begin and end with a letter or digit; at most ${MAX_TAGS_IN_A_REQUEST}`

/** Tags as clients send them: by name, since that makes them. */
export const tagItem = {
  type: Type.Literal('tags'),
  attributes: Type.Object({ name: Type.String({ pattern: namePattern.source }) }),
}
const tagList = Type.Array(Type.Object(tagItem), { maxItems: MAX_TAGS_IN_A_REQUEST })
export const tagsRelation = Type.Object({ data: tagList }, { explain })
const isTagList = Compile(tagList)

/** The names in the body of a write to `relationships/tags`. */
export function parseTags(bytes: Uint8Array): string[] {
  const { data } = (parseJson(bytes) ?? {}) as { data?: unknown }
  if (!isTagList.Check(data)) throw invalid(`the body ${explain}`, '/data')
  return data.map(({ attributes: { name } }) => name)
}

/** Throws when the workspace has more tags than it may. */
export async function limitTags(tx: Transaction, { config }: Deps, workspaceId: string): Promise<void> {
  const { maxWorkspaceTags } = config
  if ((await countTags(tx, workspaceId)) > maxWorkspaceTags) {
    throw invalid(`a workspace may have at most ${maxWorkspaceTags} tags`, '/data')
  }
}
