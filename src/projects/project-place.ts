import { nowhere } from '../access/standing.ts'
import { NO_ID, idInPath } from '../core/ids.ts'
import type { Loading } from '../http/route.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { findProject } from './project-store.ts'

/** Loads a project and the facts that rules need. */
export async function loadProject({ tx, actor, deps }: Omit<Loading<unknown>, 'address'>, projectId: string) {
  const project = await findProject(tx, projectId)
  const organization = await findOrganization(tx, project?.organization_id ?? NO_ID)
  const grants = await deps.grants.onProject(tx, actor, organization ?? nowhere, project?.id ?? NO_ID)
  if (project === undefined || organization === undefined) return undefined
  return { organization, project, target: { grants } }
}

/** The project that a path names. */
export const projectPlace = {
  path: '/projects/:project_id',
  type: 'projects',
  address: idInPath('project', 'project_id'),
  load: (context: Loading<{ id: string }>) => loadProject(context, context.address.id),
}
