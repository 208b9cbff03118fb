import { Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { reachOf } from '../access/granted-places-store.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, invalid, type Problem } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import type { Viewer } from '../http/route.ts'
import { refuse } from '../jsonapi/body.ts'
import { parseJson } from '../jsonapi/json.ts'
import { countTags, findVisibleTags, insertTags } from './tag-store.ts'

/** OpenTofu's `cloud` block finds the workspaces of a configuration by some tags; a tag is a name alone. */
const namePattern = /^[A-Za-z0-9]([A-Za-z0-9:_-]{0,253}[A-Za-z0-9])?$/
export const MAX_TAGS_IN_A_REQUEST = 1000
const explain =
  'must be {"data": [{"type": "tags", "attributes": {"name": …}} or {"type": "tags", "id": …}, …]}, with names of 1 to 255 ' +
  `ASCII letters, digits, colons, - and _, that begin and end with a letter or digit; at most ${MAX_TAGS_IN_A_REQUEST}`

/** A tag as clients send it: by name, which makes what there is not, or by id. */
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

/** A tag that a body names, and where. */
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
 * @param items what the schema let through
 * @param problems what is wrong is added to these
 */
export function namedTags(
  items: readonly { id?: string; attributes?: { name?: string } }[],
  pointer: string,
  problems: Problem[],
): NamedTag[] {
  return items.flatMap(({ id, attributes }, place) => {
    const name = attributes?.name
    // The id wins: clients send whole tags, which have both.
    if (id !== undefined && id !== '') return { place, id }
    if (name !== undefined && name !== '') return { place, name }
    problems.push({ detail: 'a tag must have a name or an id', pointer: `${pointer}/${place}` })
    return []
  })
}

/** The names of tags; of an id that names no tag that the caller may see, undefined. */
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

/** Throws 422 that names the places of those that are missing. */
export function refuseUnknown(
  items: readonly { readonly place: number }[],
  found: readonly unknown[],
  detail: string,
  pointer = '/data',
): void {
  const problems = items.flatMap(({ place }, number) =>
    found[number] === undefined ? [{ detail, pointer: `${pointer}/${place}/id` }] : [],
  )
  if (problems.length > 0) throw new AppError('invalid', problems.slice(0, 100))
}

/** Makes the tags that the organization does not have yet; throws 422 when it then has more than it may. */
export async function makeTags(
  { tx, deps }: Viewer,
  organizationId: string,
  names: readonly string[],
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
    throw invalid(`an organization may have at most ${maxTags} tags: delete some first`, '/data')
  }
}
