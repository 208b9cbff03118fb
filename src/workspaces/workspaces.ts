import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { isPermitted, type Target } from '../access/decide.ts'
import { nowhere } from '../access/standing.ts'
import type { Config } from '../config.ts'
import type { Problem } from '../core/errors.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import { isName, nameSchema, shortTextSchema } from '../core/names.ts'
import type { Transaction } from '../database/database.ts'
import type { Call } from '../http/call.ts'
import type { Deps } from '../http/deps.ts'
import type { Viewer } from '../http/route.ts'
import { oneOf, readResource, toOne } from '../jsonapi/body.ts'
import type { Page } from '../jsonapi/paging.ts'
import {
  findOrganization,
  findOrganizationByName,
  type OrganizationRow,
} from '../organizations/organization-store.ts'
import { givenSettings, noAgentPool, settingSchemas } from './workspace-settings.ts'
import type { ExecutionMode } from '../projects/projects.ts'
import {
  bindingsOf,
  tagBindingsRelation,
  tooManyBindings,
  type TagBindings,
} from '../tag-bindings/tag-bindings.ts'
import { namedTags, tagsRelation, type NamedTag } from '../tags/tags.ts'
import { findWorkspace, findWorkspaceByName, findWorkspaces, type WorkspaceRow } from './workspace-store.ts'

/** A workspace in a path: by its id, or by the names of its organization and its own. */
export type WorkspaceAddress = { workspaceId: string } | { organizationName: string; workspaceName: string }

export function workspaceOfPath({ params }: Call): WorkspaceAddress | undefined {
  if (params.workspace_id !== undefined) {
    const workspaceId = parseId('workspace', params.workspace_id)
    return workspaceId === undefined ? undefined : { workspaceId }
  }
  const { organization_name: organizationName = '', workspace_name: workspaceName = '' } = params
  return isName(organizationName) && isName(workspaceName) ? { organizationName, workspaceName } : undefined
}

/** A workspace in a path, and which page is asked for of a list of it. */
export function workspacePageOfPath(call: Call): { workspace: WorkspaceAddress; page: Page } | undefined {
  const page = call.query.page()
  const workspace = workspaceOfPath(call)
  return workspace === undefined ? undefined : { workspace, page }
}

/** Looked for in place of one that is missing. */
export const noWorkspace = { id: NO_ID, project_id: NO_ID }

export type LoadedWorkspace = { organization: OrganizationRow; workspace: WorkspaceRow; target: Target }

/** A workspace with what rules must know of it: for the `load` of every route that is about one. */
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

/** What tofu compares its own version with; an empty text is any version. */
const versionSchema = Type.Union(
  [Type.String({ maxLength: 255, pattern: `^(?:latest|${CONSTRAINT}(?:,${CONSTRAINT})*)?$` }), Type.Null()],
  { explain: 'must be a version (1.10.10), a constraint (~> 1.10.0) or "latest"' },
)

const executionMode = oneOf('remote', 'local', 'agent')

export const workspaceBody = {
  type: 'workspaces',
  attributes: {
    name: nameSchema,
    description: shortTextSchema,
    'terraform-version': versionSchema,
    'execution-mode': executionMode,
    'agent-pool-id': noAgentPool,
    // The older name of the same thing: true is remote, false is local.
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

/** Anything runs with it: tofu compares its own version with another one, and refuses. */
export const ANY_VERSION = 'latest'

/** What a request asks of a workspace; members that were left out keep their value. */
export type WorkspaceChanges = {
  name?: string
  description?: string | null
  terraformVersion?: string
  projectId?: string
  /** Taken by a new workspace; later ones come by `relationships/tags`. */
  tags?: NamedTag[]
  /** All of them, where they were given. */
  tagBindings?: TagBindings
  /** Undefined: as it was; null: the project's. */
  executionMode?: ExecutionMode | null
  settings: Record<string, unknown>
}

/** What is wrong is in `problems`: more of it may show in the database. */
export function readWorkspace(
  bytes: Uint8Array,
  shape: typeof workspaceBody,
  config: Config,
): { changes: WorkspaceChanges; id: unknown; problems: Problem[] } {
  const { attributes, relationships, id, problems } = readResource(bytes, shape)
  const changes: WorkspaceChanges = { settings: givenSettings(attributes, problems) }
  if (attributes.name !== undefined) changes.name = attributes.name
  if (attributes.description !== undefined) changes.description = attributes.description
  if (attributes['terraform-version'] !== undefined) {
    changes.terraformVersion = attributes['terraform-version'] || ANY_VERSION
  }
  if (relationships.project !== undefined) changes.projectId = relationships.project.data.id
  if (relationships.tags !== undefined) {
    changes.tags = namedTags(relationships.tags.data, '/data/relationships/tags/data', problems)
  }
  const bindings = relationships['tag-bindings']
  if (bindings !== undefined) {
    changes.tagBindings = bindingsOf(bindings.data, '/data/relationships/tag-bindings/data', problems)
    problems.push(...tooManyBindings(changes.tagBindings.size, config))
  }
  const mode = attributes['execution-mode'] ?? modeOfOperations(attributes.operations)
  const overwrites = attributes['setting-overwrites']
  if (overwrites?.['execution-mode'] === false) changes.executionMode = null
  else if (mode !== undefined) changes.executionMode = mode
  if (overwrites?.['agent-pool'] !== undefined) changes.settings['agent-pool'] = overwrites['agent-pool']
  return { changes, id, problems }
}

function modeOfOperations(operations: boolean | undefined): ExecutionMode | undefined {
  if (operations === undefined) return undefined
  return operations ? 'remote' : 'local'
}

/** The settings column after a change. */
export function mergeSettings(stored: string, { settings, executionMode }: WorkspaceChanges): string {
  const merged: Record<string, unknown> = { ...(JSON.parse(stored) as object), ...settings }
  if (executionMode === null) delete merged['execution-mode']
  else if (executionMode !== undefined) merged['execution-mode'] = executionMode
  return JSON.stringify(merged)
}

/** The workspaces with these ids, in their places; undefined for what is missing or what the caller may not do this with. */
export async function namedWorkspaces(
  { tx, actor, standing, deps }: Viewer,
  organization: OrganizationRow,
  ids: readonly string[],
  permission: 'workspace:read' | 'workspace:manage',
): Promise<(WorkspaceRow | undefined)[]> {
  const parsed = ids.flatMap((id) => parseId('workspace', id) ?? [])
  const rows = await findWorkspaces(tx, organization.id, [...new Set(parsed)])
  const found = new Map(rows.map((workspace) => [workspace.id, workspace]))
  const permitted = new Map<string, WorkspaceRow>()
  for (const id of new Set(ids)) {
    const workspace = found.get(id)
    // Of what is missing too, so that it takes as long.
    const grants = await deps.grants.onWorkspace(tx, actor, organization, workspace ?? noWorkspace)
    if (workspace !== undefined && isPermitted(permission, actor, standing, { grants })) {
      permitted.set(id, workspace)
    }
  }
  return ids.map((id) => permitted.get(id))
}
