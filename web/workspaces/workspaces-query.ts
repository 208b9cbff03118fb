import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import {
  includedAs,
  inOrganization,
  pageOf,
  request,
  type One,
  type Page,
  type Resource,
} from '../api/client.ts'
import { live } from '../api/live.ts'
import type { Project } from '../projects/projects-query.ts'

export type Workspace = {
  readonly name: string
  readonly locked: boolean
  readonly 'locked-reason': string | null
  readonly description: string | null
  readonly 'latest-change-at': string
  /** What the caller may do. Pages hold no rules of their own. */
  readonly permissions: Readonly<Record<string, boolean>>
}

const pathOf = (organization: string) => inOrganization(organization, 'workspaces')

/** Workspaces with their projects, as far as the caller may see them. */
type WithProjects<Answer> = Answer & { readonly included?: readonly Resource<Project>[] }

/** The name of a workspace's project; undefined if the caller may not see it. */
export function projectName(
  { included }: WithProjects<unknown>,
  workspace: Resource<Workspace>,
): string | undefined {
  return includedAs(included, workspace, 'project')?.attributes.name
}

/** A page of the workspaces whose name contains `q`: of the organization, or of one project. */
export const workspacesQuery = (organization: string, q: string, page: number, projectId?: string) =>
  queryOptions({
    queryKey: ['workspaces', organization, q, page, projectId],
    ...live<WithProjects<Page<Workspace>>>(
      pageOf(pathOf(organization), page, 50, {
        include: 'project',
        'search[name]': q,
        'filter[project][id]': projectId,
      }),
    ),
    placeholderData: keepPreviousData,
  })

/** Whether the place in the address is an id. Links for people who may not see the name carry it. */
export function isWorkspaceId(text: string): boolean {
  return /^ws-[1-9A-HJ-NP-Za-km-z]{16}$/.test(text)
}

/** A workspace by name or by id. */
export const workspaceQuery = (organization: string, name: string) => {
  const path = isWorkspaceId(name)
    ? `/workspaces/${name}`
    : `${pathOf(organization)}/${encodeURIComponent(name)}`
  return queryOptions({
    queryKey: ['workspace', organization, name],
    ...live<WithProjects<One<Workspace>>>(`${path}?include=project`),
  })
}

/** Locks, unlocks or unlocks by force. */
export async function changeLock(
  workspaceId: string,
  action: 'lock' | 'unlock' | 'force-unlock',
  reason?: string,
): Promise<void> {
  const body = action === 'lock' ? { reason: reason ?? '' } : undefined
  await request(`/workspaces/${workspaceId}/actions/${action}`, { method: 'POST', body })
}
