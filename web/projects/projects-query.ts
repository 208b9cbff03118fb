import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { inOrganization, pageOf, type One, type Page } from '../api/client.ts'
import { live } from '../api/live.ts'

export type Project = {
  readonly name: string
  readonly description: string | null
  readonly 'workspace-count': number
  /** What the caller may do. Pages hold no rules of their own. */
  readonly permissions: Readonly<Record<string, boolean>>
}

/** A page of the projects whose name contains `q`. */
export const projectsQuery = (organization: string, q: string, page: number) =>
  queryOptions({
    queryKey: ['projects', organization, q, page],
    ...live<Page<Project>>(pageOf(inOrganization(organization, 'projects'), page, 50, { q })),
    placeholderData: keepPreviousData,
  })

export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ['project', id],
    ...live<One<Project>>(`/projects/${encodeURIComponent(id)}`),
  })
