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
export const accessGrantsQuery = (of: 'workspaces' | 'projects' | 'teams', id: string, page: number) =>
  queryOptions({
    queryKey: ['access-grants', of, id, page],
    ...live<Page<AccessGrant>>(pageOf(`/${of}/${id}/access-grants`, page, 50)),
    placeholderData: keepPreviousData,
  })

/** What a user or a team may do on a place, and why. */
export type EffectiveAccess = {
  readonly name: string
  readonly level: string
  readonly may: Readonly<Record<string, boolean>>
  readonly 'may-in-workspaces'?: Readonly<Record<string, boolean>>
  readonly grants: readonly {
    readonly source: string
    readonly id?: string
    readonly team?: { readonly id: string; readonly name: string }
    readonly flag?: string
    readonly access?: string
    readonly level: string
    readonly gives: readonly string[]
  }[]
}

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
  })

export type Grant = Resource<AccessGrant>
