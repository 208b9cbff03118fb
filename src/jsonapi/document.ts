import type { Paging } from './paging.ts'

/** The JSON text of one resource: ready to be joined into a document, and to be kept. */
export type Fragment = string

export type Identifier = { type: string; id: string }

/** A resource object as JSON:API has it. */
export type Resource = {
  id: string
  type: string
  attributes: Record<string, unknown>
  relationships?: Record<string, { data?: Identifier | Identifier[] | null; meta?: object; links?: object }>
  links?: Record<string, string>
}

export function fragment(resource: Resource): Fragment {
  return JSON.stringify(resource)
}

/** A document about one resource. */
export function document(data: Fragment, included?: readonly Fragment[]): string {
  return included === undefined ? `{"data":${data}}` : `{"data":${data},"included":[${included.join(',')}]}`
}

/** A document about a list, a page of it or, without `paging`, all of it. */
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
