import { parseStored } from '../core/stored-json.ts'
import type { Readable } from 'node:stream'
import { existing } from '../core/existing.ts'
import { Type } from 'typebox'
import { canSeeTeam, isPermitted, shownPermissions } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import type { Viewer } from '../http/route.ts'
import {
  flagObjectOf,
  nullable,
  relationLink,
  relationMany,
  relationMaybe,
  relationOne,
  schemasIn,
  schemasOfValues,
  timeSchema,
  valuesIn,
  type Fields,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { checkIncluded } from '../jsonapi/included.ts'
import { document, fragment, type Fragment, type Identifier } from '../jsonapi/document.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { findProject } from '../projects/project-store.ts'
import { autoDestroyDurationOf, executionModeOf } from '../projects/projects.ts'
import { executionMode } from '../projects/workspace-defaults.ts'
import { findStateVersion, type StateVersionRow } from '../state-versions/state-version-store.ts'
import { effectiveOfWorkspaces } from '../tag-bindings/tag-bindings.ts'
import { findTeam, teamFacts } from '../teams/team-store.ts'
import {
  includedWith,
  workspaceOutputs,
  type Includes,
  type ShownWorkspace,
  type WorkspaceViewer,
} from './workspace-includes.ts'
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

type WorkspaceView = {
  readonly workspace: WorkspaceRow
  /** The settings that the workspace sets itself. */
  readonly stored: Readonly<Record<string, unknown>>
  readonly mode: unknown
  readonly resources: number
  readonly tags: Iterable<string>
  readonly may: (permission: Permission) => boolean
}

const fields: Fields<WorkspaceView> = {
  'created-at': [timeSchema, ({ workspace }) => workspace.created_at],
  description: [nullable(Type.String()), ({ workspace }) => workspace.description],
  'execution-mode': [executionMode, ({ mode }) => mode],
  'latest-change-at': [timeSchema, ({ workspace }) => workspace.updated_at],
  locked: [Type.Boolean(), ({ workspace }) => workspace.locked_by_id !== null],
  'locked-reason': [nullable(Type.String()), ({ workspace }) => workspace.lock_reason],
  name: [Type.String(), ({ workspace }) => workspace.name],
  operations: [Type.Boolean(), ({ mode }) => mode !== 'local'],
  'setting-overwrites': [
    flagObjectOf(['execution-mode', 'agent-pool']),
    ({ stored }) => ({
      'execution-mode': stored['execution-mode'] !== undefined,
      'agent-pool': stored['agent-pool'] === true,
    }),
  ],
  'terraform-version': [Type.String(), ({ workspace }) => workspace.terraform_version],
  'updated-at': [timeSchema, ({ workspace }) => workspace.updated_at],
  'resource-count': [Type.Integer(), ({ resources }) => resources],
  'tag-names': [Type.Array(Type.String()), ({ tags }) => [...tags]],
  permissions: [flagObjectOf(Object.keys(permissions)), ({ may }) => shownPermissions(permissions, may)],
}

export const workspaceDescription: ResourceDescription = {
  type: 'workspaces',
  attributes: {
    ...settingSchemas,
    ...schemasOfValues(fixedAttributes),
    actions: flagObjectOf(['is-destroyable']),
    'auto-destroy-at': nullable(timeSchema),
    'vcs-repo': Type.Null(),
    ...schemasIn(fields),
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
  const projects = await eachOnce(workspaces, 'project_id', (id) => findProject(tx, id))
  const states = await eachOnce(workspaces, 'current_state_version_id', (id) => findStateVersion(tx, id))
  const data: Fragment[] = []
  const shown: ShownWorkspace[] = []
  let outputs = 0
  for (const workspace of workspaces) {
    const target = { grants: await deps.grants.onWorkspace(tx, actor, organization, workspace) }
    const one: ShownWorkspace = {
      workspace,
      project: existing(projects.get(workspace.project_id)),
      target,
      tags: tags.get(workspace.id) ?? [],
      outputs: include.has('outputs') ? await workspaceOutputs(viewer, target, workspace) : undefined,
      bindings: bindings?.get(workspace.id),
      lockHolder: await lockHolderShown(viewer, workspace),
    }
    // Checked here, before the outputs of the next workspaces are read: there may be very many.
    outputs += one.outputs?.count ?? 0
    checkIncluded(workspaces.length, outputs)
    data.push(workspaceFragment(viewer, organization, one, states))
    shown.push(one)
  }
  if (include.size === 0) return { data, included: undefined, later }
  return { data, included: await includedWith(viewer, organization, shown, include), later }
}

/** What the workspaces refer to, by id: each is read once, and all at the same time. */
async function eachOnce<Row>(
  workspaces: readonly WorkspaceRow[],
  column: 'project_id' | 'current_state_version_id',
  find: (id: string) => Promise<Row>,
): Promise<ReadonlyMap<string | null, Row>> {
  const ids = new Set(workspaces.flatMap((workspace) => workspace[column] ?? []))
  return new Map(await Promise.all([...ids].map(async (id) => [id, await find(id)] as const)))
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
function workspaceFragment(
  viewer: Viewer,
  organization: OrganizationRow,
  { workspace, project, target, tags, outputs, bindings, lockHolder }: ShownWorkspace,
  states: ReadonlyMap<string | null, StateVersionRow | undefined>,
): Fragment {
  const { deps, actor, standing } = viewer
  const may = (permission: Permission) => isPermitted(permission, actor, standing, target)
  const current = may('outputs:read') ? workspace.current_state_version_id : null
  const state = may('state-version:read') ? states.get(current) : undefined
  const stored = parseStored<Record<string, unknown>>(workspace.settings)
  const self = `/api/v2/workspaces/${workspace.id}`
  return fragment({
    id: workspace.id,
    type: 'workspaces',
    attributes: {
      ...settingsOf(stored, autoDestroyDurationOf(project)),
      ...fixedAttributes,
      ...valuesIn(fields, {
        workspace,
        stored,
        mode: stored['execution-mode'] ?? executionModeOf(project, organization, deps.config).mode,
        resources: state?.resources_count ?? 0,
        tags,
        may,
      }),
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

/** @param inherited the project's value, for a workspace that does not set its own */
function settingsOf(stored: Readonly<Record<string, unknown>>, inherited: string | null) {
  const settings = echoedSettings(stored)
  return settings['inherits-project-auto-destroy'] === true
    ? { ...settings, 'auto-destroy-activity-duration': inherited }
    : settings
}
