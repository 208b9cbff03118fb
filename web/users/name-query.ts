import { queryOptions } from '@tanstack/react-query'
import { request, type One } from '../api/client.ts'

type Named = { readonly username?: string; readonly name?: string }

/** The name of a user or a team. */
export const nameQuery = (type: string, id: string) =>
  queryOptions({
    queryKey: ['name', type, id],
    queryFn: async ({ signal }) => {
      const { attributes } = (await request<One<Named>>(`/${type}/${id}`, { signal })).data
      return attributes.username ?? attributes.name ?? id
    },
    staleTime: 600_000,
    retry: false,
  })
