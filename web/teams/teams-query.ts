import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { inOrganization, pageOf, request, type Page } from '../api/client.ts'

type Team = {
  readonly name: string
  readonly visibility: 'secret' | 'organization'
  readonly 'users-count': number
}

/** A page of the teams whose name contains `q`. */
export const teamsQuery = (organization: string, q: string, page: number) =>
  queryOptions({
    queryKey: ['teams', organization, q, page],
    queryFn: ({ signal }) =>
      request<Page<Team>>(pageOf(inOrganization(organization, 'teams'), page, 50, { q }), { signal }),
    placeholderData: keepPreviousData,
  })
