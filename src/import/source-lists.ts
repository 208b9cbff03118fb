import { isJsonObject, memberOf } from '../core/json-object.ts'
import { existing } from '../core/existing.ts'
import { printable, Unreadable } from './records.ts'
import type { SourceClient } from './source-client.ts'

const PAGE_SIZE = 100
/** Maximum for one list of a server that is not trusted. */
const MAX_RECORDS = 500_000
/** How often a list is read if it gets shorter meanwhile. */
const MAX_READS = 5

/** A resource from the source. Its attributes are not validated yet. */
export type Resource = {
  id: string
  type: string
  attributes: Record<string, unknown>
  relationships: Record<string, unknown>
  links: Record<string, unknown>
}

export type List = { data: Resource[]; included: Map<string, Resource> }

/** Reads all pages of a list. Pages are requested by number, because the source's links could lead anywhere. */
export async function readList(
  client: Pick<SourceClient, 'document'>,
  path: string,
  query: Record<string, string> = {},
  maxRecords = MAX_RECORDS,
): Promise<List> {
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const list = await readPages(client, path, query, maxRecords)
    if (list !== undefined) return list
  }
  throw new Unreadable(`${path} got shorter while it was read, ${MAX_READS} times`)
}

/** Undefined if an object was deleted meanwhile: one of the next page has moved to a page that was read before. */
async function readPages(
  client: Pick<SourceClient, 'document'>,
  path: string,
  query: Record<string, string>,
  maxRecords: number,
): Promise<List | undefined> {
  const list = new Map<string, Resource>()
  const included = new Map<string, Resource>()
  let most = maxRecords
  let longest = 0
  for (let page = 1; ;) {
    const json = await client.document(path, {
      ...query,
      'page[number]': String(page),
      'page[size]': String(PAGE_SIZE),
    })
    const before = list.size
    // A new object may have moved others to the next page, so the same one can come twice.
    for (const item of resourcesOf(json, 'data')) list.set(item.id, item)
    for (const item of resourcesOf(json, 'included')) included.set(item.id, item)
    // A list may grow while it is read, but there is a limit.
    const total = pagination(json, 'total-count')
    if (page === 1 && total !== undefined) most = Math.min(most, 2 * total + 1000)
    if (total !== undefined && total < longest) return undefined
    longest = Math.max(longest, total ?? 0)
    const pages = pagination(json, 'total-pages') ?? page
    // A list must not look complete because its server does not name the next page, or not as a number.
    const next = pagination(json, 'next-page') ?? (pages > page ? page + 1 : undefined)
    if (next === undefined) return { data: [...list.values()], included }
    if (next <= page || list.size === before || list.size > most) {
      throw new Unreadable(`the pages of ${path} do not come to an end`)
    }
    page = next
  }
}

/** The single resource of a document. */
export function resourceOf(json: unknown): Resource {
  const [only] = resourcesOf({ data: [memberOf(json, 'data')] }, 'data')
  return existing(only)
}

/** The id in a to-one relationship. */
export function relatedId(resource: Resource, name: string): string | null {
  const id = memberOf(memberOf(memberOf(resource.relationships, name), 'data'), 'id')
  return typeof id === 'string' ? id : null
}

export function relatedIds(resource: Resource, name: string): string[] {
  const data = memberOf(memberOf(resource.relationships, name), 'data')
  if (!Array.isArray(data)) return []
  return data.map((item) => memberOf(item, 'id')).filter((id) => typeof id === 'string')
}

function resourcesOf(json: unknown, name: string): Resource[] {
  const items = memberOf(json, name)
  if (items === undefined && name === 'included') return []
  if (!Array.isArray(items)) throw new Unreadable('it was answered with something that is no list')
  return items.map((item: unknown) => {
    const id = memberOf(item, 'id')
    const type = memberOf(item, 'type')
    if (typeof id !== 'string' || id.length > 300 || typeof type !== 'string') {
      throw new Unreadable(`it was answered with a resource without id or type`)
    }
    if (!/^[A-Za-z0-9_.:-]+$/.test(id)) throw new Unreadable(`it was answered with the id ${printable(id)}`)
    return {
      id,
      type,
      attributes: objectOr(memberOf(item, 'attributes')),
      relationships: objectOr(memberOf(item, 'relationships')),
      links: objectOr(memberOf(item, 'links')),
    }
  })
}

function pagination(json: unknown, name: string): number | undefined {
  const value = memberOf(memberOf(memberOf(json, 'meta'), 'pagination'), name)
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

function objectOr(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {}
}
