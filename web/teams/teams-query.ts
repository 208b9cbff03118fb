import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { request, type Page } from '../api/client.ts'

type Team = {
  readonly name: string
  readonly visibility: 'secret' | 'organization'
  readonly 'users-count': number
}

/** A page of the teams whose name contains `q`. */
export const teamsQuery = (organization: string, q: string, page: number) =>
  queryOptions({
    queryKey: ['teams', organization, q, page],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({
        'page[size]': '50',
        'page[number]': String(page),
        ...(q === '' ? {} : { q }),
      })
      return request<Page<Team>>(`/organizations/${encodeURIComponent(organization)}/teams?${query}`, {
        signal,
      })
    },
    placeholderData: keepPreviousData,
  })
