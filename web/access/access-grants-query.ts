import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { inOrganization, pageOf, request, type Page, type Resource } from '../api/client.ts'
import { live } from '../api/live.ts'

export type AccessGrant = {
  readonly access: string
  /** The level that the grant gives here by itself. */
  readonly level: string
  readonly gives: readonly string[]
  readonly team: { readonly id: string; readonly name: string }
  readonly on: { readonly type: 'workspaces' | 'projects'; readonly id: string; readonly name: string }
}

/** A page of the grants on a workspace or project, or of a team, that the caller may see. */
export const accessGrantsQuery = (
  of: 'workspaces' | 'projects' | 'teams',
  id: string,
  page: number,
  size = 50,
) =>
  queryOptions({
    queryKey: ['access-grants', of, id, page, size],
    ...live<Page<AccessGrant>>(pageOf(`/${of}/${id}/access-grants`, page, size)),
    placeholderData: keepPreviousData,
  })

/** What a user or a team may do on a place, and why. */
export type EffectiveAccess = {
  readonly name: string
  readonly level: string
  readonly may: Readonly<Record<string, boolean>>
  readonly 'may-in-workspaces'?: Readonly<Record<string, boolean>>
  readonly grants: readonly AccessSource[]
  /** What would be enough for each action that is missing. Only about one workspace or project. */
  readonly 'granted-by'?: Readonly<Record<string, readonly NeededGrant[]>>
}

/** Where access comes from, and what it gives by itself. */
export type AccessSource = {
  readonly source: string
  readonly id?: string
  readonly team?: { readonly id: string; readonly name: string }
  readonly flag?: string
  readonly access?: string
  readonly level: string
  readonly gives: readonly string[]
}

/** A grant that would be enough by itself. */
export type NeededGrant = {
  readonly grant: string
  readonly access?: string
  readonly flag?: string
  readonly on?: readonly {
    readonly type: 'workspaces' | 'projects'
    readonly id: string | null
    readonly name?: string
  }[]
  readonly description: string
}

/** Somebody who may do more on a place than a plain member. */
export type AccessHolder = {
  readonly who: { readonly type: 'users' | 'teams'; readonly id: string; readonly name: string }
  readonly level: string
  readonly grants: readonly AccessSource[]
}

/** A page of those who may do something on a workspace or project. */
export const accessHoldersQuery = (
  of: 'workspaces' | 'projects',
  id: string,
  { q, may, who, page }: { q: string; may: string; who: string; page: number },
) =>
  queryOptions({
    queryKey: ['access-holders', of, id, q, may, who, page],
    queryFn: ({ signal }) => {
      const filters = { q, 'filter[may]': may, 'filter[who]': who }
      return request<Page<AccessHolder>>(pageOf(`/${of}/${id}/access-holders`, page, 20, filters), { signal })
    },
    placeholderData: keepPreviousData,
  })

export type AccessQuestion = {
  readonly user?: string | undefined
  readonly team?: string | undefined
  readonly workspace?: string | undefined
  readonly project?: string | undefined
}

export const effectiveAccessQuery = (organization: string, question: AccessQuestion, page = 1) =>
  queryOptions({
    queryKey: ['effective-access', organization, question, page],
    queryFn: ({ signal }) => {
      const path = pageOf(inOrganization(organization, 'effective-access'), page, 50, question)
      return request<Page<EffectiveAccess>>(path, { signal })
    },
    placeholderData: keepPreviousData,
  })

export type Grant = Resource<AccessGrant>
