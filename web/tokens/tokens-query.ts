import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { pageOf, request, type Page } from '../api/client.ts'

export type Token = {
  readonly description: string | null
  readonly 'created-at': string
  readonly 'last-used-at': string | null
  readonly 'expired-at': string | null
}

/** A page of tokens, without their texts. */
export const tokensQuery = (path: string, page: number) =>
  queryOptions({
    queryKey: ['tokens', path, page],
    queryFn: ({ signal }) => request<Page<Token>>(pageOf(path, page, 20), { signal }),
    placeholderData: keepPreviousData,
  })
