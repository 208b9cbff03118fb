import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import type { Target } from '../access/decide.ts'
import { nowhere } from '../access/standing.ts'
import type { Config } from '../config.ts'
import { NO_ID } from '../core/ids.ts'
import type { Problem } from '../core/errors.ts'
import { projectNameSchema, shortTextSchema } from '../core/names.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { oneOf, readResource } from '../jsonapi/body.ts'
import { settingsOf } from '../organizations/organization-attributes.ts'
import { findOrganization, type OrganizationRow } from '../organizations/organization-store.ts'
import {
  bindingsOf,
  tagBindingsRelation,
  tooManyBindings,
  type TagBindings,
} from '../tag-bindings/tag-bindings.ts'
import { autoDestroyDuration, noAgentPool } from '../workspaces/workspace-settings.ts'
import { findProject, type ProjectRow } from './project-store.ts'

export const projectBody = {
  type: 'projects',
  attributes: {
    name: projectNameSchema,
    description: shortTextSchema,
    'default-execution-mode': oneOf('remote', 'local', 'agent'),
    'default-agent-pool-id': noAgentPool,
    'setting-overwrites': Type.Object({
      'default-execution-mode': Type.Optional(Type.Boolean()),
      'default-agent-pool': Type.Optional(Type.Boolean()),
    }),
    'auto-destroy-activity-duration': autoDestroyDuration,
  },
  relationships: { 'tag-bindings': tagBindingsRelation },
}
export const newProjectBody = { ...projectBody, required: ['name'] as const }

export type ExecutionMode = 'remote' | 'local' | 'agent'

/** The attributes that a request changes. Attributes left out keep their value. */
export type ProjectChanges = {
  name?: string
  description?: string | null
  /** Undefined keeps the value. Null takes the organization's value. */
  executionMode?: ExecutionMode | null
  /** Whether the project sets the agent pool of its workspaces. Only stored and returned: no agent pools exist here. */
  hasOwnAgentPool?: boolean
  autoDestroyDuration?: string | null
  /** If given, replaces all tag bindings. */
  tagBindings?: TagBindings
}

/** `problems` has only what is wrong with the body alone. Checks against the database may add to it. */
export function readProject(
  bytes: Uint8Array,
  shape: typeof projectBody,
  config: Config,
  pathId?: string,
): { changes: ProjectChanges; problems: Problem[] } {
  const { attributes, relationships, problems } = readResource(bytes, shape, pathId)
  const changes: ProjectChanges = {}
  if (attributes.name !== undefined) changes.name = attributes.name
  if (attributes.description !== undefined) changes.description = attributes.description
  const mode = attributes['default-execution-mode']
  const overwrites = attributes['setting-overwrites']
  if (overwrites?.['default-execution-mode'] === false) changes.executionMode = null
  else if (mode !== undefined) changes.executionMode = mode
  if (overwrites?.['default-agent-pool'] !== undefined) {
    changes.hasOwnAgentPool = overwrites['default-agent-pool']
  }
  const duration = attributes['auto-destroy-activity-duration']
  if (duration !== undefined) changes.autoDestroyDuration = duration || null
  const bindings = relationships['tag-bindings']
  if (bindings !== undefined) {
    changes.tagBindings = bindingsOf(bindings.data, '/data/relationships/tag-bindings/data', problems)
    problems.push(...tooManyBindings(changes.tagBindings.size, config))
  }
  return { changes, problems }
}

type ProjectSettings = {
  'default-execution-mode'?: ExecutionMode
  'default-agent-pool'?: boolean
  'auto-destroy-activity-duration'?: string | null
}

/**
 * The default execution mode of the project's workspaces, and whether the project sets it itself. It has no effect
 * here, because this server runs nothing.
 */
export function executionModeOf(
  { settings }: ProjectRow,
  organization: OrganizationRow,
  config: Config,
): { mode: ExecutionMode; isOwn: boolean } {
  const { 'default-execution-mode': own } = JSON.parse(settings) as ProjectSettings
  if (own !== undefined) return { mode: own, isOwn: true }
  const mode = settingsOf(organization.settings, config)['default-execution-mode'] as ExecutionMode
  return { mode, isOwn: false }
}

export function hasOwnAgentPool({ settings }: ProjectRow): boolean {
  return (JSON.parse(settings) as ProjectSettings)['default-agent-pool'] === true
}

/** The default for the project's workspaces. */
export function autoDestroyDurationOf({ settings }: ProjectRow): string | null {
  return (JSON.parse(settings) as ProjectSettings)['auto-destroy-activity-duration'] ?? null
}

/** The new value of the settings column. */
export function mergeProjectSettings(
  stored: string,
  { executionMode, hasOwnAgentPool, autoDestroyDuration: duration }: ProjectChanges,
): string {
  const merged = JSON.parse(stored) as ProjectSettings
  if (executionMode === null) delete merged['default-execution-mode']
  else if (executionMode !== undefined) merged['default-execution-mode'] = executionMode
  if (hasOwnAgentPool !== undefined) merged['default-agent-pool'] = hasOwnAgentPool
  if (duration !== undefined) merged['auto-destroy-activity-duration'] = duration
  return JSON.stringify(merged)
}

export type LoadedProject = { organization: OrganizationRow; project: ProjectRow; target: Target }

/** Loads a project and the facts that rules need. For the `load` of every route about one project. */
export async function loadProject(
  { tx, actor, deps }: { tx: Transaction; actor: Actor; deps: Deps },
  projectId: string,
): Promise<LoadedProject | undefined> {
  const project = await findProject(tx, projectId)
  const organization = await findOrganization(tx, project?.organization_id ?? NO_ID)
  const grants = await deps.grants.onProject(tx, actor, organization ?? nowhere, project?.id ?? NO_ID)
  if (project === undefined || organization === undefined) return undefined
  return { organization, project, target: { grants } }
}
