import { parseStored } from '../core/stored-json.ts'
import type { Readable } from 'node:stream'
import { existing } from '../core/existing.ts'
import { Type } from 'typebox'
import { canSeeTeam, isPermitted, shownPermissions } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import type { Viewer } from '../http/route.ts'
import { oneOf } from '../jsonapi/body.ts'
import {
  flagObjectOf,
  nullable,
  relationLink,
  relationMany,
  relationMaybe,
  relationOne,
  schemasOfValues,
  timeSchema,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { checkIncluded } from '../jsonapi/included.ts'
import { document, fragment, type Fragment, type Identifier } from '../jsonapi/document.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { findProject } from '../projects/project-store.ts'
import { autoDestroyDurationOf, executionModeOf, type ExecutionMode } from '../projects/projects.ts'
import { findStateVersion } from '../state-versions/state-version-store.ts'
import { effectiveOfWorkspaces } from '../tag-bindings/tag-bindings.ts'
import { findTeam, teamFacts } from '../teams/team-store.ts'
import {
  includedWith,
  type Includes,
  type ShownWorkspace,
  type WorkspaceViewer,
} from './workspace-includes.ts'
import { workspaceOutputs } from './workspace-outputs-document.ts'
import { echoedSettings, settingSchemas } from './workspace-settings.ts'
import type { WorkspaceRow } from './workspace-store.ts'
import { tagNamesOf } from './workspace-tag-store.ts'

/** The other attributes of the platform. Nothing in this server changes them. */
const fixedAttributes = {
  actions: { 'is-destroyable': true },
  'apply-duration-average': null,
  'auto-destroy-status': null,
  'can-queue-destroy-plan': false,
  environment: 'default',
  'last-assessment-result-at': null,
  'no-code-upgrade-available': false,
  'plan-duration-average': null,
  'policy-check-failures': null,
  'run-failures': null,
  source: 'tfe-api',
  'source-module-id': null,
  'vcs-repo-identifier': null,
  'workspace-kpis-runs-count': null,
} as const

/**
 * Each of the document's `permissions`, by the permission of the table. There are no runs, variables or assessments.
 */
const permissions: Record<string, Permission | false> = {
  'can-create-state-versions': 'state-version:create',
  'can-destroy': 'workspace:manage',
  'can-force-delete': 'workspace:manage',
  'can-force-unlock': 'workspace:force-unlock',
  'can-lock': 'workspace:lock',
  'can-manage-assessments': false,
  'can-manage-ephemeral-workspaces': false,
  'can-manage-hyok': false,
  'can-manage-run-tasks': false,
  'can-manage-tags': 'workspace:manage',
  'can-queue-apply': false,
  'can-queue-destroy': false,
  'can-queue-run': false,
  'can-read-assessment-results': false,
  'can-read-run': false,
  'can-read-settings': 'workspace:read',
  'can-read-state-outputs': 'outputs:read',
  'can-read-state-versions': 'state-version:read',
  'can-read-variable': false,
  'can-unlock': 'workspace:lock',
  'can-update': 'workspace:manage',
  'can-update-variable': false,
}

export const workspaceDescription: ResourceDescription = {
  type: 'workspaces',
  attributes: {
    ...settingSchemas,
    ...schemasOfValues(fixedAttributes),
    actions: flagObjectOf(['is-destroyable']),
    'auto-destroy-at': nullable(timeSchema),
    'created-at': timeSchema,
    description: nullable(Type.String()),
    'execution-mode': oneOf('remote', 'local', 'agent'),
    'latest-change-at': timeSchema,
    locked: Type.Boolean(),
    'locked-reason': nullable(Type.String()),
    name: Type.String(),
    operations: Type.Boolean(),
    'resource-count': Type.Integer(),
    permissions: flagObjectOf(Object.keys(permissions)),
    'setting-overwrites': flagObjectOf(['execution-mode', 'agent-pool']),
    'tag-names': Type.Array(Type.String()),
    'terraform-version': Type.String(),
    'updated-at': timeSchema,
    'vcs-repo': Type.Null(),
  },
  relationships: {
    organization: relationOne('organizations'),
    project: relationOne('projects'),
    'locked-by': relationMaybe('users', 'teams'),
    'current-state-version': relationMaybe('state-versions'),
    'current-run': relationMaybe('runs'),
    'latest-run': relationMaybe('runs'),
    'current-configuration-version': relationMaybe('configuration-versions'),
    'agent-pool': relationMaybe('agent-pools'),
    'ssh-key': relationMaybe('ssh-keys'),
    'remote-state-consumers': relationLink,
    outputs: Type.Optional(relationMany('workspace-outputs')),
    'effective-tag-bindings': Type.Optional(relationMany('effective-tag-bindings')),
  },
  links: { self: Type.String(), 'self-html': Type.String() },
}

/** The documents of an organization's workspaces, and what `include` adds. Large parts are built `later`. */
export async function workspaceFragments(
  reader: WorkspaceViewer,
  organization: OrganizationRow,
  workspaces: readonly WorkspaceRow[],
  include: Includes,
): Promise<{ data: Fragment[]; included: Fragment[] | undefined; later: LaterParts }> {
  const later = new LaterParts()
  const viewer = { ...reader, later }
  const { tx, deps, actor } = viewer
  const ids = workspaces.map(({ id }) => id)
  const tags = await tagNamesOf(tx, ids)
  const bindings = include.has('effective_tag_bindings')
    ? await effectiveOfWorkspaces(tx, workspaces)
    : undefined
  const data: Fragment[] = []
  const shown: ShownWorkspace[] = []
  let outputs = 0
  for (const workspace of workspaces) {
    const target = { grants: await deps.grants.onWorkspace(tx, actor, organization, workspace) }
    const one: ShownWorkspace = {
      workspace,
      project: existing(await findProject(tx, workspace.project_id)),
      target,
      tags: tags.get(workspace.id) ?? [],
      outputs: include.has('outputs') ? await workspaceOutputs(viewer, target, workspace) : undefined,
      bindings: bindings?.get(workspace.id),
      lockHolder: await lockHolderShown(viewer, workspace),
    }
    // Checked here, before the outputs of the next workspaces are read: there may be very many.
    outputs += one.outputs?.count ?? 0
    checkIncluded(workspaces.length, outputs)
    data.push(await workspaceFragment(viewer, organization, one))
    shown.push(one)
  }
  if (include.size === 0) return { data, included: undefined, later }
  return { data, included: await includedWith(viewer, organization, shown, include), later }
}

/** The document of one workspace. */
export async function workspaceDocument(
  context: WorkspaceViewer & {
    readonly resource: { readonly organization: OrganizationRow }
    readonly result: WorkspaceRow
    readonly query: { readonly include?: Includes }
  },
): Promise<string | Readable> {
  const { resource, result, query } = context
  const asked = query.include ?? new Set()
  const { data, included, later } = await workspaceFragments(context, resource.organization, [result], asked)
  return later.bodyOf(document(existing(data[0]), included))
}

/** The only function that builds `"type": "workspaces"`. Lists outputs and bindings only if included. */
async function workspaceFragment(
  viewer: Viewer,
  organization: OrganizationRow,
  { workspace, project, target, tags, outputs, bindings, lockHolder }: ShownWorkspace,
): Promise<Fragment> {
  const { tx, deps, actor, standing } = viewer
  const may = (permission: Permission) => isPermitted(permission, actor, standing, target)
  const current = may('outputs:read') ? workspace.current_state_version_id : null
  const state =
    current === null || !may('state-version:read') ? undefined : await findStateVersion(tx, current)
  const self = `/api/v2/workspaces/${workspace.id}`
  return fragment({
    id: workspace.id,
    type: 'workspaces',
    attributes: {
      ...attributesOf(workspace, {
        mode: executionModeOf(project, organization, deps.config).mode,
        autoDestroyDuration: autoDestroyDurationOf(project),
      }),
      'resource-count': state?.resources_count ?? 0,
      'tag-names': [...tags],
      permissions: shownPermissions(permissions, may),
    },
    relationships: {
      organization: { data: { id: organization.name, type: 'organizations' } },
      project: { data: { id: workspace.project_id, type: 'projects' } },
      'locked-by': { data: lockHolder },
      'current-state-version': {
        data: current === null ? null : { id: current, type: 'state-versions' },
        links: { related: `${self}/current-state-version` },
      },
      'current-run': { data: null },
      'latest-run': { data: null },
      'current-configuration-version': { data: null },
      'agent-pool': { data: null },
      'ssh-key': { data: null },
      'remote-state-consumers': { links: { related: `${self}/relationships/remote-state-consumers` } },
      ...(outputs === undefined ? {} : { outputs: { data: outputs.identifiers } }),
      ...(bindings === undefined
        ? {}
        : {
            'effective-tag-bindings': {
              data: bindings.map(({ binding: { id } }) => ({ id, type: 'effective-tag-bindings' })),
            },
          }),
    },
    links: {
      // By name, as clients expect it. The id works, too.
      self: `/api/v2/organizations/${organization.name}/workspaces/${workspace.name}`,
      'self-html': `/app/${organization.name}/workspaces/${workspace.name}`,
    },
  })
}

/** The holder of the lock. Null for a team that the caller may not see. */
async function lockHolderShown(
  { tx, standing }: Viewer,
  { locked_by_id: id, locked_by_kind: type }: WorkspaceRow,
): Promise<Identifier | null> {
  if (id === null || type === null) return null
  if (type === 'teams') {
    const team = await findTeam(tx, id)
    if (team === undefined || !canSeeTeam(standing, teamFacts(team))) return null
  }
  return { id, type }
}

/** @param inherited the project's values, for what the workspace does not set itself */
function attributesOf(
  workspace: WorkspaceRow,
  inherited: { mode: ExecutionMode; autoDestroyDuration: string | null },
) {
  const stored = parseStored<Record<string, unknown>>(workspace.settings)
  const mode = stored['execution-mode'] ?? inherited.mode
  const settings = echoedSettings(stored)
  return {
    ...settings,
    ...fixedAttributes,
    ...(settings['inherits-project-auto-destroy'] === true
      ? { 'auto-destroy-activity-duration': inherited.autoDestroyDuration }
      : {}),
    'created-at': workspace.created_at,
    description: workspace.description,
    'execution-mode': mode,
    'latest-change-at': workspace.updated_at,
    locked: workspace.locked_by_id !== null,
    'locked-reason': workspace.lock_reason,
    name: workspace.name,
    operations: mode !== 'local',
    'setting-overwrites': {
      'execution-mode': stored['execution-mode'] !== undefined,
      'agent-pool': stored['agent-pool'] === true,
    },
    'terraform-version': workspace.terraform_version,
    'updated-at': workspace.updated_at,
  }
}
