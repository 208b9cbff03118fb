import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { pageOf, request, type One, type Page } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { live } from '../api/live.ts'
import { parseExact } from './exact.ts'

export type Collection = readonly ['list' | 'set' | 'map', DetailedType]
/** The type of a value as Terraform writes it: `"string"`, `["list","string"]`. */
export type DetailedType = string | Collection | readonly ['tuple' | 'object', ...unknown[]]

export type Preview = {
  readonly sensitive: boolean
  readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object'
  readonly 'detailed-type': DetailedType
  /** The first characters of the value's raw JSON; null if it is sensitive. */
  readonly 'value-text': string | null
  /** Bytes of the whole raw JSON; null if it is sensitive. */
  readonly 'value-bytes': number | null
}
export type NamedPreview = Preview & { readonly name: string }

/** Current outputs without sensitive values, asked for again while the page is looked at. */
export const outputsQuery = (workspaceId: string, q: string, page: number, isLive: boolean) =>
  queryOptions({
    queryKey: ['outputs', workspaceId, q, page],
    ...live<Page<NamedPreview>>(
      pageOf(`/workspaces/${workspaceId}/current-output-previews`, page, 100, { q }),
    ),
    ...(isLive ? {} : { refetchInterval: false as const }),
    placeholderData: keepPreviousData,
    // Outputs that are being processed are there in a moment.
    retry: (_, error) => error instanceof ApiError && error.status === 503,
  })

type Output = { readonly value: unknown }

/** Reads the whole value of an output. If it is sensitive, the audit trail names who read it: call it on a click only. */
export async function wholeValue(id: string): Promise<unknown> {
  const { data } = await request<One<Output>>(`/state-version-outputs/${id}`, { parse: parseExact })
  return data.attributes.value
}
