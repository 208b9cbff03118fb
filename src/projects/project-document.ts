import { Type } from 'typebox'
import { existing } from '../core/existing.ts'
import { isPermitted, shownPermissions, type ColumnSet } from '../access/decide.ts'
import { reachOf } from '../access/granted-places-store.ts'
import type { Permission } from '../access/rules.ts'
import type { Viewer } from '../http/route.ts'
import {
  flagObjectOf,
  nullable,
  relationLink,
  relationMany,
  relationMaybe,
  relationOne,
  resourceType,
  timeSchema,
  type Fields,
} from '../jsonapi/description.ts'
import { document, type Fragment } from '../jsonapi/document.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { effectiveTagBindingFragment } from '../tag-bindings/tag-binding-document.ts'
import { findTagBindings, type TagBindingRow } from '../tag-bindings/tag-binding-store.ts'
import { shownTeams } from '../team-access/shown-teams-store.ts'
import { countTeamsOfProjects, countWorkspacesOfProjects } from './project-count-store.ts'
import type { ProjectRow } from './project-store.ts'
import { autoDestroyDurationOf, executionModeOf, hasOwnAgentPool } from './projects.ts'
import { includes } from '../jsonapi/parameters.ts'
import { executionMode } from './workspace-defaults.ts'

/** Each of the document's `permissions`, by the permission of the table. There are no stacks or variable sets. */
const permissions: Record<string, Permission | false> = {
  'can-create-workspace': 'workspace:create',
  'can-deploy-no-code-modules': false,
  'can-destroy': 'project:manage',
  'can-manage-ephemeral-workspace-for-projects': false,
  'can-manage-in-hcp': false,
  'can-manage-stacks': false,
  'can-manage-tags': 'project:manage',
  'can-manage-teams': 'project-access:manage',
  'can-manage-varsets': false,
  'can-move-stack': false,
  'can-move-workspace': 'workspace:create',
  'can-read': 'project:read',
  'can-read-teams': 'project-access:manage',
  'can-update': 'project:manage',
  'can-update-stacks': false,
  'can-view-stacks': false,
}

type ProjectView = Shown & {
  readonly project: ProjectRow
  readonly organization: OrganizationRow
  readonly execution: ReturnType<typeof executionModeOf>
  readonly may: (permission: Permission) => boolean
  /** Undefined if the request does not include them. */
  readonly bindings: readonly TagBindingRow[] | undefined
}

const attributes: Fields<ProjectView> = {
  name: [Type.String(), ({ project }) => project.name],
  description: [nullable(Type.String()), ({ project }) => project.description],
  'created-at': [timeSchema, ({ project }) => project.created_at],
  'auto-destroy-activity-duration': [
    nullable(Type.String()),
    ({ project }) => autoDestroyDurationOf(project),
  ],
  'default-execution-mode': [executionMode, ({ execution }) => execution.mode],
  'is-unified': [Type.Boolean(), () => false],
  'team-count': [Type.Integer(), ({ teams }) => teams],
  'workspace-count': [Type.Integer(), ({ workspaces }) => workspaces],
  'setting-overwrites': [
    flagObjectOf(['default-execution-mode', 'default-agent-pool']),
    ({ project, execution }) => ({
      'default-execution-mode': execution.isOwn,
      'default-agent-pool': hasOwnAgentPool(project),
    }),
  ],
  permissions: [
    flagObjectOf(Object.keys(permissions)),
    ({ project, organization, may }) => ({
      ...shownPermissions(permissions, may),
      'can-destroy': may('project:manage') && project.id !== organization.default_project_id,
    }),
  ],
}

const projectResource = resourceType<ProjectView>({
  type: 'projects',
  id: ({ project }) => project.id,
  attributes,
  relationships: {
    organization: relationOne('organizations'),
    'default-agent-pool': relationMaybe('agent-pools'),
    'tag-bindings': relationLink,
    'effective-tag-bindings': Type.Optional(relationMany('effective-tag-bindings')),
  },
  related: ({ project, organization: { name }, bindings }) => ({
    organization: {
      data: { id: name, type: 'organizations' },
      links: { related: `/api/v2/organizations/${name}` },
    },
    'default-agent-pool': { data: null },
    'tag-bindings': { links: { related: `/api/v2/projects/${project.id}/tag-bindings` } },
    'effective-tag-bindings': bindings && {
      data: bindings.map(({ id }) => ({ id, type: 'effective-tag-bindings' })),
    },
  }),
  self: ({ project }) => `/api/v2/projects/${project.id}`,
})
export const projectDescription = projectResource.description

/** A project alone. */
export async function projectFragment(
  viewer: Viewer,
  organization: OrganizationRow,
  project: ProjectRow,
): Promise<Fragment> {
  const { data } = await projectFragments(viewer, organization, [project], false)
  return existing(data[0])
}

/** The document of one project. */
export async function projectDocument(
  context: Viewer & {
    readonly resource: { readonly organization: OrganizationRow }
    readonly result: ProjectRow
    readonly query: { readonly include?: ReadonlySet<string> }
  },
): Promise<string> {
  const isBound = (context.query.include?.size ?? 0) > 0
  const { organization } = context.resource
  const { data, included } = await projectFragments(context, organization, [context.result], isBound)
  return document(existing(data[0]), included)
}

/** Values of a project's document that its row does not have. */
type Shown = { grants: ColumnSet; workspaces: number; teams: number }

/** Counts only workspaces and teams that the caller could list. */
async function shownOf(
  { tx, deps, actor, standing }: Viewer,
  organization: OrganizationRow,
  projects: readonly ProjectRow[],
): Promise<Map<string, Shown>> {
  if (projects.length === 0) return new Map()
  const ids = projects.map(({ id }) => id)
  const reach = reachOf('workspace:read', { actor, standing })
  const workspaces = await countWorkspacesOfProjects(tx, ids, reach)
  const byGrants = new Map<ColumnSet, string[]>()
  for (const id of ids) {
    const grants = await deps.grants.onProject(tx, actor, organization, id)
    byGrants.set(grants, [...(byGrants.get(grants) ?? []), id])
  }
  const shown = new Map<string, Shown>()
  for (const [grants, alike] of byGrants) {
    const condition = shownTeams('project-access:read', { actor, standing, grants })
    const teams = await countTeamsOfProjects(tx, alike, condition)
    for (const id of alike) {
      shown.set(id, { grants, workspaces: workspaces.get(id) ?? 0, teams: teams.get(id) ?? 0 })
    }
  }
  return shown
}

/** Both spellings are accepted; the API description names one. */
export const include = {
  include: {
    ...includes('effective_tag_bindings', 'effective-tag-bindings'),
    values: ['effective_tag_bindings'],
  },
}

/** The documents of projects. With `isBound`, also their tag bindings. */
export async function projectFragments(
  viewer: Viewer,
  organization: OrganizationRow,
  projects: readonly ProjectRow[],
  isBound: boolean,
): Promise<{ data: Fragment[]; included: Fragment[] | undefined }> {
  const ids = projects.map(({ id }) => id)
  const rows = isBound ? await findTagBindings(viewer.tx, 'project_id', ids) : []
  const bindings = Map.groupBy(rows, (row) => row.project_id)
  const shown = await shownOf(viewer, organization, projects)
  const { deps, actor, standing } = viewer
  const data = projects.map((project) => {
    const known = existing(shown.get(project.id))
    return projectResource.fragment({
      ...known,
      project,
      organization,
      execution: executionModeOf(project, organization, deps.config),
      may: (permission) => isPermitted(permission, actor, standing, { grants: known.grants }),
      bindings: isBound ? (bindings.get(project.id) ?? []) : undefined,
    })
  })
  const included = rows.map((binding) => effectiveTagBindingFragment({ binding, projectId: null }))
  return { data, included: isBound ? included : undefined }
}
