import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { inOrganization, pageOf, type Page } from '../api/client.ts'
import { live } from '../api/live.ts'

type Team = {
  readonly name: string
  readonly visibility: 'secret' | 'organization'
  readonly 'users-count': number
  readonly 'organization-access': Readonly<Record<string, boolean>>
}

/** A page of the teams whose name contains `q`. */
export const teamsQuery = (organization: string, q: string, page: number) =>
  queryOptions({
    queryKey: ['teams', organization, q, page],
    ...live<Page<Team>>(pageOf(inOrganization(organization, 'teams'), page, 50, { q })),
    placeholderData: keepPreviousData,
  })
