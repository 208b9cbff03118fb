import { parseStored } from '../core/stored-json.ts'
import { Type } from 'typebox'
import type { Config } from '../config.ts'
import { projectNameSchema, shortTextSchema } from '../core/names.ts'
import { readResource, type ReadBody } from '../jsonapi/body.ts'
import { settingsOf } from '../organizations/organization-attributes.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { relatedBindings, tagBindingsRelation, type TagBindings } from '../tag-bindings/tag-bindings.ts'
import { autoDestroyDuration, executionMode, noAgentPool, type ExecutionMode } from './workspace-defaults.ts'
import type { ProjectRow } from './project-store.ts'

export const projectBody = {
  type: 'projects',
  attributes: {
    name: projectNameSchema,
    description: shortTextSchema,
    'default-execution-mode': executionMode,
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

/** The attributes that a request changes. Attributes left out keep their value. */
type ProjectChanges = {
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

/** A changed project, and the problems that need no database to find. */
export function readProject(bytes: Uint8Array, config: Config, pathId?: string) {
  return changesOf(readResource(bytes, projectBody, pathId), config)
}

/** A new project, and the problems that need no database to find. */
export function readNewProject(bytes: Uint8Array, config: Config) {
  const body = readResource(bytes, newProjectBody)
  const { changes, problems } = changesOf(body, config)
  return { changes: { ...changes, name: body.attributes.name }, problems }
}

function changesOf(body: ReadBody<typeof projectBody>, config: Config) {
  const { attributes, relationships, problems } = body
  const mode = attributes['default-execution-mode']
  const overwrites = attributes['setting-overwrites']
  const duration = attributes['auto-destroy-activity-duration']
  const changes: ProjectChanges = {
    name: attributes.name,
    description: attributes.description,
    executionMode: overwrites?.['default-execution-mode'] === false ? null : mode,
    hasOwnAgentPool: overwrites?.['default-agent-pool'],
    autoDestroyDuration: duration === undefined ? undefined : duration || null,
    tagBindings: relatedBindings(relationships['tag-bindings'], config, problems),
  }
  return { changes, problems }
}

/** The columns that the changes set, without the settings, which are merged with the stored ones. */
export function projectColumns({ name, description }: ProjectChanges): Partial<ProjectRow> {
  return { name, description }
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
  const { 'default-execution-mode': own } = parseStored<ProjectSettings>(settings)
  if (own !== undefined) return { mode: own, isOwn: true }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema and its default allow only these
  const mode = settingsOf(organization.settings, config)['default-execution-mode'] as ExecutionMode
  return { mode, isOwn: false }
}

export function hasOwnAgentPool({ settings }: ProjectRow): boolean {
  return parseStored<ProjectSettings>(settings)['default-agent-pool'] === true
}

/** The default for the project's workspaces. */
export function autoDestroyDurationOf({ settings }: ProjectRow): string | null {
  return parseStored<ProjectSettings>(settings)['auto-destroy-activity-duration'] ?? null
}

/** The new value of the settings column. */
export function mergeProjectSettings(
  stored: string,
  { executionMode, hasOwnAgentPool, autoDestroyDuration: duration }: ProjectChanges,
): string {
  const merged = parseStored<ProjectSettings>(stored)
  if (executionMode === null) delete merged['default-execution-mode']
  else if (executionMode !== undefined) merged['default-execution-mode'] = executionMode
  if (hasOwnAgentPool !== undefined) merged['default-agent-pool'] = hasOwnAgentPool
  if (duration !== undefined) merged['auto-destroy-activity-duration'] = duration
  return JSON.stringify(merged)
}
