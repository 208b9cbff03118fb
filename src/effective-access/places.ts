import { NO_ID, parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { findProject, findProjectByName, type ProjectRow } from '../projects/project-store.ts'
import { findWorkspace, findWorkspaceByName, type WorkspaceRow } from '../workspaces/workspace-store.ts'
import type { Place } from './holdings.ts'

/** A workspace or a project, by id or name. */
export type PlaceAddress = { readonly workspace: string } | { readonly project: string }

export type NamedPlace = Place & { readonly name: string }

export function placeOf({
  id,
  project_id,
  name,
}: Pick<WorkspaceRow, 'id' | 'project_id' | 'name'>): NamedPlace {
  return { on: 'workspace', id, projectId: project_id, name }
}

export function placeOfProject({ id, name }: Pick<ProjectRow, 'id' | 'name'>): NamedPlace {
  return { on: 'project', id, projectId: id, name }
}

/** An id wins, so that no name can pose as an id. Both queries always run, so that the time reveals nothing. */
export async function findPlace(
  tx: Transaction,
  organizationId: string,
  address: PlaceAddress,
): Promise<NamedPlace | undefined> {
  if ('workspace' in address) {
    const byId = await findWorkspace(tx, parseId('workspace', address.workspace) ?? NO_ID)
    const byName = await findWorkspaceByName(tx, organizationId, address.workspace)
    const found = byId ?? byName
    return found?.organization_id === organizationId ? placeOf(found) : undefined
  }
  const byId = await findProject(tx, parseId('project', address.project) ?? NO_ID)
  const byName = await findProjectByName(tx, organizationId, address.project)
  const found = byId ?? byName
  return found?.organization_id === organizationId ? placeOfProject(found) : undefined
}
