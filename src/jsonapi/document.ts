import type { Paging } from './paging.ts'

/** The JSON text of one resource. It can be joined into documents and cached. */
export type Fragment = string

export type Identifier = { type: string; id: string }

type Relationship = { data?: Identifier | readonly Identifier[] | null; meta?: object; links?: object }

/** A JSON:API resource object. */
export type Resource = {
  id: string
  type: string
  attributes: Record<string, unknown>
  relationships?: Record<string, Relationship | undefined> | undefined
  links?: Record<string, string> | undefined
}

export function fragment(resource: Resource): Fragment {
  return JSON.stringify(resource)
}

/** A document with a single resource. */
export function document(data: Fragment, included?: readonly Fragment[]): string {
  return included === undefined ? `{"data":${data}}` : `{"data":${data},"included":[${included.join(',')}]}`
}

/** A document with a list: one page, or the whole list if `paging` is undefined. */
export function listDocument(
  data: readonly Fragment[],
  paging?: Paging,
  included?: readonly Fragment[],
): string {
  const parts = [`"data":[${data.join(',')}]`]
  if (included !== undefined) parts.push(`"included":[${included.join(',')}]`)
  if (paging !== undefined) {
    parts.push(`"links":${JSON.stringify(paging.links)}`)
    parts.push(`"meta":${JSON.stringify({ ...paging.meta, pagination: paging.pagination })}`)
  }
  return `{${parts.join(',')}}`
}
