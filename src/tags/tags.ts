import { Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { reachOf } from '../access/granted-places-store.ts'
import { timestamp } from '../core/clock.ts'
import { invalid, type Problem } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import type { Viewer } from '../http/route.ts'
import { refuse } from '../jsonapi/body.ts'
import { parseJson } from '../jsonapi/json.ts'
import { countTags, findVisibleTags, insertTags } from './tag-store.ts'

/** A tag is only a name. The `cloud` block of OpenTofu selects the workspaces of a configuration by tags. */
const namePattern = /^[A-Za-z0-9]([A-Za-z0-9:_-]{0,253}[A-Za-z0-9])?$/
export const MAX_TAGS_IN_A_REQUEST = 1000
const explain =
  'must be {"data": [{"type": "tags", "attributes": {"name": …}} or {"type": "tags", "id": …}, …]}, with names of 1 to 255 ' +
  `ASCII letters, digits, colons, - and _, that begin and end with a letter or digit; at most ${MAX_TAGS_IN_A_REQUEST}`

/** A tag as clients send it: by id, or by name, which creates the tag if it is new. */
export const tagItem = Type.Object({
  type: Type.Literal('tags'),
  id: Type.Optional(Type.String({ maxLength: 100 })),
  attributes: Type.Optional(
    Type.Object({
      name: Type.Optional(Type.Union([Type.String({ pattern: namePattern.source }), Type.Literal('')])),
    }),
  ),
})
const tagList = Type.Array(tagItem, { maxItems: MAX_TAGS_IN_A_REQUEST })
export const tagsRelation = Type.Object({ data: tagList }, { explain })
const isTagList = Compile(tagList)

/** A tag of a request's body, and its index there. */
export type NamedTag = { readonly place: number; readonly id?: string; readonly name?: string }

/** The tags in the body of a write to `relationships/tags`. */
export function parseTags(bytes: Uint8Array): NamedTag[] {
  const { data } = (parseJson(bytes) ?? {}) as { data?: unknown }
  if (!isTagList.Check(data)) throw invalid(`the body ${explain}`, '/data')
  const problems: Problem[] = []
  const tags = namedTags(data, '/data', problems)
  refuse(problems)
  return tags
}

/**
 * @param items items that passed the schema
 * @param problems receives what is wrong
 */
export function namedTags(
  items: readonly { id?: string; attributes?: { name?: string } }[],
  pointer: string,
  problems: Problem[],
): NamedTag[] {
  return items.flatMap(({ id, attributes }, place) => {
    const name = attributes?.name
    // The id wins, because clients send whole tags that have both.
    if (id !== undefined && id !== '') return { place, id }
    if (name !== undefined && name !== '') return { place, name }
    problems.push({ detail: 'a tag must have a name or an id', pointer: `${pointer}/${place}` })
    return []
  })
}

/** The names of the tags, in order. Undefined for an id of no tag that the caller may see. */
export async function namesOfTags(
  viewer: Viewer,
  organizationId: string,
  tags: readonly NamedTag[],
): Promise<(string | undefined)[]> {
  const ids = tags.flatMap(({ id }) => (id === undefined ? [] : (parseId('tag', id) ?? [])))
  const reach = reachOf('workspace:read', viewer)
  const found = await findVisibleTags(viewer.tx, organizationId, reach, [...new Set(ids)])
  const names = new Map(found.map(({ id, name }) => [id, name]))
  return tags.map(({ id, name }) => (id === undefined ? name : names.get(id)))
}

/** Creates the tags that the organization does not have yet. Throws 422 at `pointer` if it then has too many. */
export async function makeTags(
  { tx, deps }: Viewer,
  organizationId: string,
  names: readonly string[],
  pointer: string,
): Promise<void> {
  if (names.length === 0) return
  const at = timestamp(deps.clock.now())
  const rows = [...new Set(names)].map((name) => ({
    id: deps.newId('tag'),
    organization_id: organizationId,
    name,
    created_at: at,
  }))
  const before = await countTags(tx, organizationId)
  await insertTags(tx, rows)
  const after = await countTags(tx, organizationId)
  const { maxTags } = deps.config
  if (after > before && after > maxTags) {
    throw invalid(
      `an organization may have at most ${maxTags} tags (PURSER_MAX_TAGS): delete some first`,
      pointer,
    )
  }
}
