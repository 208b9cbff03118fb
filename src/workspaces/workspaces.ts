import { parseStored } from '../core/stored-json.ts'
import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { isPermitted, type Target } from '../access/decide.ts'
import { nowhere } from '../access/standing.ts'
import type { Config } from '../config.ts'
import { badRequest, type Problem } from '../core/errors.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import { nameSchema, shortTextSchema } from '../core/names.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import type { Viewer } from '../http/route.ts'
import {
  addUnknown,
  readIdentifiers,
  readResource,
  toOne,
  type Identifiers,
  type ReadBody,
} from '../jsonapi/body.ts'
import {
  findOrganization,
  findOrganizationByName,
  type OrganizationRow,
} from '../organizations/organization-store.ts'
import { executionMode, noAgentPool, type ExecutionMode } from '../projects/workspace-defaults.ts'
import { givenSettings, settingSchemas } from './workspace-settings.ts'
import { relatedBindings, tagBindingsRelation, type TagBindings } from '../tag-bindings/tag-bindings.ts'
import { namedTags, tagsRelation, type NamedTag } from '../tags/tags.ts'
import { findWorkspace, findWorkspaceByName, findWorkspaces, type WorkspaceRow } from './workspace-store.ts'

/** A workspace in a path: by id, or by organization name and workspace name. */
export type WorkspaceAddress = { workspaceId: string } | { organizationName: string; workspaceName: string }

/** Stands in for a missing workspace, so that the same queries run. */
export const noWorkspace = { id: NO_ID, project_id: NO_ID }

export type LoadedWorkspace = { organization: OrganizationRow; workspace: WorkspaceRow; target: Target }

/** Loads a workspace and the facts that rules need. For the `load` of every route about one workspace. */
export async function loadWorkspace(
  { tx, actor, deps }: { tx: Transaction; actor: Actor; deps: Deps },
  address: WorkspaceAddress,
): Promise<LoadedWorkspace | undefined> {
  let workspace: WorkspaceRow | undefined
  let organization: OrganizationRow | undefined
  if ('workspaceId' in address) {
    workspace = await findWorkspace(tx, address.workspaceId)
    organization = await findOrganization(tx, workspace?.organization_id ?? NO_ID)
  } else {
    organization = await findOrganizationByName(tx, address.organizationName)
    workspace = await findWorkspaceByName(tx, organization?.id ?? NO_ID, address.workspaceName)
  }
  if (workspace === undefined || organization === undefined) {
    await deps.grants.onWorkspace(tx, actor, nowhere, noWorkspace)
    return undefined
  }
  const grants = await deps.grants.onWorkspace(tx, actor, organization, workspace)
  return { organization, workspace, target: { grants } }
}

const VERSION = 'v?\\d+(?:\\.\\d+)*(?:-[0-9A-Za-z.~-]+|[A-Za-z~][0-9A-Za-z.~-]*)?(?:\\+[0-9A-Za-z.~-]+)?'
const CONSTRAINT = ` *(?:(?:=|!=|>=?|<=?|~>) *)?${VERSION} *`

/** tofu compares its own version with this. An empty text means any version. */
const versionSchema = Type.Union(
  [Type.String({ maxLength: 255, pattern: `^(?:latest|${CONSTRAINT}(?:,${CONSTRAINT})*)?$` }), Type.Null()],
  { explain: 'must be a version (1.10.10), a constraint (~> 1.10.0) or "latest"' },
)

export const workspaceBody = {
  type: 'workspaces',
  attributes: {
    name: nameSchema,
    description: shortTextSchema,
    'terraform-version': versionSchema,
    'execution-mode': executionMode,
    'agent-pool-id': noAgentPool,
    // The older name of the execution mode: true means remote, false means local.
    operations: Type.Boolean(),
    'setting-overwrites': Type.Object({
      'execution-mode': Type.Optional(Type.Boolean()),
      'agent-pool': Type.Optional(Type.Boolean()),
    }),
    ...settingSchemas,
  },
  relationships: { project: toOne('projects'), tags: tagsRelation, 'tag-bindings': tagBindingsRelation },
}
export const newWorkspaceBody = { ...workspaceBody, required: ['name'] as const }

/** Accepts every version. With any other value tofu compares its own version and may refuse to run. */
export const ANY_VERSION = 'latest'

/** The attributes that a request changes. Attributes left out keep their value. */
export type WorkspaceChanges = {
  name?: string
  description?: string | null
  terraformVersion?: string
  projectId?: string
  /** Only for a new workspace. Later, tags are changed through `relationships/tags`. */
  tags?: NamedTag[]
  /** If given, replaces all tag bindings. */
  tagBindings?: TagBindings
  /** Undefined keeps the value. Null takes the project's value. */
  executionMode?: ExecutionMode | null
  settings: Record<string, unknown>
}

/** A changed workspace, the id in the body, and the problems that need no database to find. */
export function readWorkspace(bytes: Uint8Array, config: Config) {
  return changesOf(readResource(bytes, workspaceBody), config)
}

/** A new workspace, and the problems that need no database to find. */
export function readNewWorkspace(bytes: Uint8Array, config: Config) {
  const body = readResource(bytes, newWorkspaceBody)
  const { changes, problems } = changesOf(body, config)
  return { changes: { ...changes, name: body.attributes.name }, problems }
}

function changesOf(body: ReadBody<typeof workspaceBody>, config: Config) {
  const { attributes, relationships, id, problems } = body
  const settings = givenSettings(attributes, problems)
  const mode = attributes['execution-mode'] ?? modeOfOperations(attributes.operations)
  const overwrites = attributes['setting-overwrites']
  if (overwrites?.['agent-pool'] !== undefined) settings['agent-pool'] = overwrites['agent-pool']
  const version = attributes['terraform-version']
  const changes: WorkspaceChanges = {
    name: attributes.name,
    description: attributes.description,
    terraformVersion: version === undefined ? undefined : version || ANY_VERSION,
    projectId: relationships.project?.data.id,
    executionMode: overwrites?.['execution-mode'] === false ? null : mode,
    settings,
  }
  if (relationships.tags !== undefined) {
    changes.tags = namedTags(relationships.tags.data, '/data/relationships/tags/data', problems)
  }
  changes.tagBindings = relatedBindings(relationships['tag-bindings'], config, problems)
  return { changes, id, problems }
}

/** The columns that the changes set, without the project and the settings, which need the stored ones. */
export function workspaceColumns(changes: WorkspaceChanges): Partial<WorkspaceRow> {
  const { name, description, terraformVersion } = changes
  return { name, description, terraform_version: terraformVersion }
}

function modeOfOperations(operations: boolean | undefined): ExecutionMode | undefined {
  if (operations === undefined) return undefined
  return operations ? 'remote' : 'local'
}

/**
 * A dry run leaves no trace, and its answer would tell which names hidden workspaces have. Throws 400 for callers who do
 * not see all workspaces.
 */
export function refuseNameInDryRun({ actor, standing }: Viewer, { name }: WorkspaceChanges): void {
  if (name === undefined || isPermitted('workspace:read', actor, standing, {})) return
  const detail = 'a dry run with name is only for callers who see all workspaces; leave out name or dry-run'
  throw badRequest(detail)
}

/** The new value of the settings column. */
export function mergeSettings(stored: string, { settings, executionMode }: WorkspaceChanges): string {
  const merged: Record<string, unknown> = { ...parseStored<object>(stored), ...settings }
  if (executionMode === null) delete merged['execution-mode']
  else if (executionMode !== undefined) merged['execution-mode'] = executionMode
  return JSON.stringify(merged)
}

const MAX_IN_A_REQUEST = 1000

/** The body of a write to a relationship with workspaces. */
export function readWorkspaceIds(bytes: Uint8Array): Identifiers {
  return readIdentifiers(bytes, 'workspaces', MAX_IN_A_REQUEST)
}

/**
 * The workspaces that a list names, in its order, with repeats.
 *
 * @param problems gets one for each workspace that is missing or not permitted
 */
export async function namedWorkspaces(
  { tx, actor, standing, deps }: Viewer,
  organization: OrganizationRow,
  ids: readonly string[],
  permission: 'workspace:read' | 'workspace:manage',
  problems: Problem[],
): Promise<WorkspaceRow[]> {
  const parsed = ids.flatMap((id) => parseId('workspace', id) ?? [])
  const rows = await findWorkspaces(tx, organization.id, [...new Set(parsed)])
  const found = new Map(rows.map((workspace) => [workspace.id, workspace]))
  const permitted = new Map<string, WorkspaceRow>()
  for (const id of new Set(ids)) {
    const workspace = found.get(id)
    // Also read for a missing workspace, so that both take the same time.
    const grants = await deps.grants.onWorkspace(tx, actor, organization, workspace ?? noWorkspace)
    if (workspace !== undefined && isPermitted(permission, actor, standing, { grants })) {
      permitted.set(id, workspace)
    }
  }
  const may = permission === 'workspace:read' ? 'read' : 'manage'
  const detail = `id does not name a workspace of the organization that you can ${may}`
  addUnknown(problems, ids, (id) => permitted.has(id), detail)
  return ids.flatMap((id) => permitted.get(id) ?? [])
}
