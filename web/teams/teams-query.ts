import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { inOrganization, pageOf, type Page } from '../api/client.ts'
import { live } from '../api/live.ts'
import type { Team } from './team-query.ts'

/** A page of the teams whose name contains `q`. */
export const teamsQuery = (organization: string, q: string, page: number) =>
  queryOptions({
    queryKey: ['teams', organization, q, page],
    ...live<Page<Team>>(pageOf(inOrganization(organization, 'teams'), page, 50, { q })),
    placeholderData: keepPreviousData,
  })
