import { existing } from '../core/existing.ts'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/schema'
import type { Config } from '../config.ts'
import { timestamp } from '../core/clock.ts'
import { compareBytes } from '../core/compare-bytes.ts'
import { invalid, invalidQuery, type Problem } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { refuse } from '../jsonapi/body.ts'
import { parseJson } from '../jsonapi/json.ts'
import { text } from '../jsonapi/parameters.ts'
import type { Query } from '../jsonapi/query.ts'
import {
  countTagBindings,
  findTagBindings,
  keepTagBindings,
  putTagBindings,
  type TagBindingRow,
  type TagFilter,
  type Tagged,
} from './tag-binding-store.ts'

const MAX_KEY_LENGTH = 128
const MAX_VALUE_LENGTH = 256
const MAX_IN_A_REQUEST = 1000
const MAX_FILTERS = 20
const WITHOUT_CONTROLS = '^[^\\u0000-\\u001f\\u007f]*$'

/** A key-value tag as clients send it. The value may be missing. */
export const tagBindingItem = Type.Object({
  type: Type.Literal('tag-bindings'),
  attributes: Type.Object({
    key: Type.String({ minLength: 1, maxLength: MAX_KEY_LENGTH, pattern: WITHOUT_CONTROLS }),
    value: Type.Optional(Type.String({ maxLength: MAX_VALUE_LENGTH, pattern: WITHOUT_CONTROLS })),
  }),
})
const tagBindingList = Type.Array(tagBindingItem, { maxItems: MAX_IN_A_REQUEST })
const explain =
  'must be {"data": [{"type": "tag-bindings", "attributes": {"key": …, "value": …}}, …]}, with keys of 1 to ' +
  `${MAX_KEY_LENGTH} characters and values of at most ${MAX_VALUE_LENGTH}, without control characters; at most ${MAX_IN_A_REQUEST}`
export const tagBindingsRelation = Type.Object({ data: tagBindingList }, { explain })
const isTagBindingList = Compile(tagBindingList)

export type TagBindings = ReadonlyMap<string, string>

/** The bindings in the body of a write to `tag-bindings`. */
export function parseTagBindings(bytes: Uint8Array): TagBindings {
  const { data } = (parseJson(bytes) ?? {}) as { data?: unknown }
  if (!isTagBindingList.Check(data)) throw invalid(`the body ${explain}`, '/data')
  const problems: Problem[] = []
  const bindings = bindingsOf(data, '/data', problems)
  refuse(problems)
  return bindings
}

type Items = Static<typeof tagBindingList>

/** The bindings in a relationship of a new or changed workspace or project. Undefined if it gives none. */
export function relatedBindings(
  relation: { data: Items } | undefined,
  config: Config,
  problems: Problem[],
): TagBindings | undefined {
  if (relation === undefined) return undefined
  const pointer = '/data/relationships/tag-bindings/data'
  const bindings = bindingsOf(relation.data, pointer, problems)
  problems.push(...tooManyBindings(bindings.size, config, pointer))
  return bindings
}

/** @param problems receives what is wrong */
function bindingsOf(items: Items, pointer: string, problems: Problem[]): TagBindings {
  const bindings = new Map<string, string>()
  for (const [place, { attributes }] of items.entries()) {
    const key = attributes.key.toWellFormed()
    if (bindings.has(key)) {
      problems.push({ detail: 'key is given twice', pointer: `${pointer}/${place}/attributes/key` })
    }
    bindings.set(key, (attributes.value ?? '').toWellFormed())
  }
  return bindings
}

/**
 * Writes bindings of a workspace or project. Throws 422 if it then has too many.
 *
 * @param isWhole whether other bindings are deleted
 */
export async function writeTagBindings(
  { tx, deps }: { tx: Transaction; deps: Deps },
  organizationId: string,
  tagged: Tagged,
  bindings: TagBindings,
  isWhole: boolean,
): Promise<void> {
  if (isWhole) await keepTagBindings(tx, tagged, [...bindings.keys()])
  const at = timestamp(deps.clock.now())
  const rows = [...bindings].map(([key, value]) => ({
    id: deps.newId('tagBinding'),
    organization_id: organizationId,
    workspace_id: null,
    project_id: null,
    key,
    value,
    created_at: at,
  }))
  await putTagBindings(tx, tagged, rows)
  refuse(tooManyBindings(await countTagBindings(tx, tagged), deps.config, '/data'))
}

/** Replaces all bindings of a new or changed workspace or project, if the request gives some. */
export async function setTagBindings(
  viewer: { tx: Transaction; deps: Deps },
  organizationId: string,
  tagged: Tagged,
  bindings: TagBindings | undefined,
): Promise<void> {
  if (bindings !== undefined) await writeTagBindings(viewer, organizationId, tagged, bindings, true)
}

/** The changes as the audit trail records them: of tag bindings only the keys. */
export function recorded({ tagBindings, ...others }: { tagBindings?: TagBindings }): object {
  return tagBindings === undefined ? others : { ...others, 'tag-bindings': [...tagBindings.keys()] }
}

/** A problem at `pointer` if `count` is above the limit. */
function tooManyBindings(count: number, { maxTagBindings }: Config, pointer: string): Problem[] {
  if (count <= maxTagBindings) return []
  const detail = `a workspace or project may have at most ${maxTagBindings} tag bindings (PURSER_MAX_TAG_BINDINGS)`
  return [{ detail, pointer }]
}

/** A binding in effect. `projectId` is the project that it is inherited from, or null for an own binding. */
export type EffectiveTagBinding = { readonly binding: TagBindingRow; readonly projectId: string | null }

/** The bindings in effect on each workspace, by key: its own, and its project's for all other keys. */
export async function effectiveOfWorkspaces(
  tx: Transaction,
  workspaces: readonly { id: string; project_id: string }[],
): Promise<ReadonlyMap<string, EffectiveTagBinding[]>> {
  const projectIds = [...new Set(workspaces.map((workspace) => workspace.project_id))]
  const ids = workspaces.map(({ id }) => id)
  const own = Map.groupBy(await findTagBindings(tx, 'workspace_id', ids), (row) => row.workspace_id)
  const inherited = Map.groupBy(await findTagBindings(tx, 'project_id', projectIds), (row) => row.project_id)
  return new Map(
    workspaces.map(({ id, project_id: projectId }) => {
      const mine = own.get(id) ?? []
      const keys = new Set(mine.map(({ key }) => key))
      const others = (inherited.get(projectId) ?? []).filter(({ key }) => !keys.has(key))
      const all = [
        ...mine.map((binding) => ({ binding, projectId: null })),
        ...others.map((binding) => ({ binding, projectId })),
      ]
      return [id, all.toSorted((a, b) => compareBytes(a.binding.key, b.binding.key))]
    }),
  )
}

const tagged = /^filter\[tagged\]\[(\d{1,4})\]\[(key|value)\]$/

/** The parameters `filter[tagged][0][key]` and so on. The first one has all filters; `description` is without its end. */
export function taggedFilter(description: string) {
  return {
    'filter[tagged][0][key]': {
      description: `${description}; several: [1] and so on`,
      read: (query: Query) => taggedFilterOf(query).filters,
      linkNames: (query: Query) => taggedFilterOf(query).names,
    },
    'filter[tagged][0][value]': text('The value of that tag; any, if it is not given'),
  }
}

/** Parses `filter[tagged][0][key]`, `filter[tagged][0][value]` …: all must match. `names` are these parameters. */
function taggedFilterOf(query: Query): { filters: TagFilter[]; names: string[] } {
  const byPlace = new Map<number, { key?: string; value?: string }>()
  const names: string[] = []
  for (const [name, value] of query.matching(tagged)) {
    const [, place, part = ''] = existing(tagged.exec(name))
    byPlace.set(Number(place), { ...byPlace.get(Number(place)), [part]: value })
    names.push(name)
  }
  const filters = [...byPlace.values()]
  const refuse = (detail: string) => {
    const parameter = existing(names[0])
    throw invalidQuery(detail, parameter)
  }
  if (filters.some(({ key }) => key === undefined)) refuse('each filter[tagged] must have a key')
  if (filters.length > MAX_FILTERS) refuse(`there may be at most ${MAX_FILTERS} filter[tagged]`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- refused above without a key
  const different = new Map(filters.map((filter) => [JSON.stringify(filter), filter as TagFilter]))
  return { filters: [...different.values()], names }
}
