import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import type { Target } from '../access/decide.ts'
import { projectNameSchema, shortTextSchema } from '../core/names.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { oneOf, parseResource } from '../jsonapi/body.ts'
import { findOrganization, type OrganizationRow } from '../organizations/organization-store.ts'
import { findProject, type ProjectRow } from './project-store.ts'

export const projectBody = {
  type: 'projects',
  attributes: {
    name: projectNameSchema,
    description: shortTextSchema,
    'default-execution-mode': oneOf('remote', 'local', 'agent'),
    'setting-overwrites': Type.Object({ 'default-execution-mode': Type.Optional(Type.Boolean()) }),
    'auto-destroy-activity-duration': Type.Union([Type.Null(), Type.Literal('')], {
      explain: 'must be null: this server destroys nothing by itself',
    }),
  },
}
export const newProjectBody = { ...projectBody, required: ['name'] as const }

/** What a request asks of a project; members that were left out keep their value. */
export type ProjectChanges = {
  name?: string
  description?: string | null
  /** Undefined: as it was; null: the organization's. It rules nothing. */
  executionMode?: string | null
}

export function parseProject(bytes: Uint8Array, shape: typeof projectBody, pathId?: string): ProjectChanges {
  const { attributes } = parseResource(bytes, shape, pathId)
  const changes: ProjectChanges = {}
  if (attributes.name !== undefined) changes.name = attributes.name
  if (attributes.description !== undefined) changes.description = attributes.description
  const mode = attributes['default-execution-mode']
  if (attributes['setting-overwrites']?.['default-execution-mode'] === false) changes.executionMode = null
  else if (mode !== undefined) changes.executionMode = mode
  return changes
}

/** The settings column after a change. */
export function mergeProjectSettings(stored: string, { executionMode }: ProjectChanges): string {
  if (executionMode === undefined) return stored
  return JSON.stringify(executionMode === null ? {} : { 'default-execution-mode': executionMode })
}

export type LoadedProject = { organization: OrganizationRow; project: ProjectRow; target: Target }

/** A project with what rules must know of it: for the `load` of every route that is about one. */
export async function loadProject(
  { tx, actor, deps }: { tx: Transaction; actor: Actor; deps: Deps },
  projectId: string,
): Promise<LoadedProject | undefined> {
  const project = await findProject(tx, projectId)
  if (project === undefined) return undefined
  const organization = (await findOrganization(tx, project.organization_id)) as OrganizationRow
  const grants = await deps.grants.onProject(tx, actor, organization, project.id)
  return { organization, project, target: { grants } }
}
