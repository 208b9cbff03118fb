import { isPermitted } from '../access/decide.ts'
import { timestamp } from '../core/clock.ts'
import { existing } from '../core/existing.ts'
import { invalid, type Problem } from '../core/errors.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { created, noContent, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route, type Viewer } from '../http/route.ts'
import { orProblems, otherId, refuse, refuseBesideTakenName } from '../jsonapi/body.ts'
import { document, type Fragment } from '../jsonapi/document.ts'
import { loadOrganizationWithGrants, organizationOfPath } from '../organizations/organization-of-path.ts'
import { bumpVersion, type OrganizationRow } from '../organizations/organization-store.ts'
import { findProject } from '../projects/project-store.ts'
import { refuseUnsafeDelete } from './safe-delete.ts'
import { writeTagBindings } from '../tag-bindings/tag-bindings.ts'
import { workspaceDocument, workspaceFragments } from './workspace-document.ts'
import { includeHelp, includesOf } from './workspace-includes.ts'
import {
  countWorkspaces,
  deleteWorkspace,
  findWorkspace,
  findWorkspaceByName,
  insertWorkspace,
  updateWorkspace,
} from './workspace-store.ts'
import { addTags } from './workspace-tag-store.ts'
import { tagsToAdd, tooManyTags } from './workspace-tags.ts'
import {
  ANY_VERSION,
  loadWorkspace,
  mergeSettings,
  newWorkspaceBody,
  readWorkspace,
  workspaceBody,
  workspaceOfPath,
  type WorkspaceChanges,
} from './workspaces.ts'

/** Each route exists with the id and with the name. */
const forms = [
  { path: '/workspaces/:workspace_id', by: 'by id' },
  { path: '/organizations/:organization_name/workspaces/:workspace_name', by: 'by name' },
] as const

const NAME_IS_TAKEN: Problem = {
  detail: 'name is that of another workspace of the organization',
  pointer: '/data/attributes/name',
}

/** Throws one 422 for these problems and a taken name. */
async function refuseWorkspace(
  tx: Transaction,
  organization: OrganizationRow,
  { name }: WorkspaceChanges,
  problems: readonly Problem[],
  ownId?: string,
): Promise<void> {
  const findHolder = async () =>
    name === undefined ? undefined : (await findWorkspaceByName(tx, organization.id, name))?.id
  await refuseBesideTakenName(problems, NAME_IS_TAKEN, findHolder, ownId)
}

const TAGS_POINTER = '/data/relationships/tags/data'

/** The named or the default project. One in which the caller may not create workspaces counts as missing. */
async function projectFor(
  { tx, actor, standing, deps }: Viewer,
  organization: OrganizationRow,
  projectId: string = organization.default_project_id,
): Promise<string> {
  const id = parseId('project', projectId)
  const found = await findProject(tx, id ?? NO_ID)
  const project = found?.organization_id === organization.id ? found : undefined
  const grants = await deps.grants.onProject(tx, actor, organization, project?.id ?? NO_ID)
  if (project !== undefined && isPermitted('workspace:create', actor, standing, { grants })) return project.id
  throw invalid('project must be one in which you may create workspaces', '/data/relationships/project')
}

async function bindTags(
  viewer: Viewer,
  organization: OrganizationRow,
  id: string,
  bindings: WorkspaceChanges['tagBindings'],
): Promise<void> {
  if (bindings === undefined) return
  await writeTagBindings(viewer, organization.id, { column: 'workspace_id', id }, bindings, true)
}

const createWorkspace = writeRoute({
  method: 'POST',
  path: '/organizations/:organization_name/workspaces',
  permission: 'workspace:create',
  summary: 'Create a workspace',
  answers: 'workspaces',
  status: 201,
  accepts: newWorkspaceBody,
  address: (call) => {
    const name = organizationOfPath(call)
    return name === undefined ? undefined : { name }
  },
  load: (context) => loadOrganizationWithGrants(context, context.address.name),
  body: (bytes, _, { config }) => readWorkspace(bytes, newWorkspaceBody, config),
  act: async (context) => {
    const { tx, deps, resource, audit } = context
    const { organization } = resource
    const { changes } = context.body
    const { maxWorkspaces } = deps.config
    // Copied, because the transaction may run again and must not add to the same list twice.
    const problems = [...context.body.problems]
    const project = await orProblems(problems, projectFor(context, organization, changes.projectId))
    if ((await countWorkspaces(tx, organization.id)) >= maxWorkspaces) {
      const detail = `an organization may have at most ${maxWorkspaces} workspaces`
      problems.push({ detail, pointer: '/data' })
    }
    const wanted = changes.tags ?? []
    const tags = await orProblems(problems, tagsToAdd(context, organization.id, wanted, TAGS_POINTER))
    problems.push(...tooManyTags(new Set(tags).size, deps.config))
    await refuseWorkspace(tx, organization, changes, problems)
    const projectId = project as string
    const now = timestamp(deps.clock.now())
    const id = deps.newId('workspace')
    const name = changes.name as string
    const isNew = await insertWorkspace(tx, {
      id,
      organization_id: organization.id,
      project_id: projectId,
      name,
      description: changes.description ?? null,
      terraform_version: changes.terraformVersion ?? ANY_VERSION,
      locked_by_id: null,
      locked_by_kind: null,
      lock_reason: null,
      current_state_version_id: null,
      settings: mergeSettings('{}', changes),
      created_at: now,
      updated_at: now,
    })
    if (!isNew) refuse([NAME_IS_TAKEN])
    await addTags(tx, organization.id, id, tags as string[])
    await bindTags(context, organization, id, changes.tagBindings)
    audit({
      action: 'workspace.create',
      organizationId: organization.id,
      resourceType: 'workspaces',
      resourceId: id,
      details: { name, project: projectId },
    })
    const workspace = existing(await findWorkspace(tx, id))
    return created(await workspaceDocument(context, organization, workspace))
  },
})

const showWorkspace = forms.map(({ path, by }) =>
  readRoute({
    path,
    permission: 'workspace:read',
    summary: `Show a workspace ${by}`,
    query: includeHelp,
    answers: 'workspaces',
    address: (call: Call) => {
      const include = includesOf(call.query)
      const workspace = workspaceOfPath(call)
      return workspace === undefined ? undefined : { workspace, include }
    },
    load: (context) => loadWorkspace(context, context.address.workspace),
    document: async (context) => {
      const { address, resource } = context
      const { organization, workspace } = resource
      const { data, included, later } = await workspaceFragments(
        context,
        organization,
        [workspace],
        address.include,
      )
      return ok(later.bodyOf(document(data[0] as Fragment, included)))
    },
  }),
)

const changeWorkspace = forms.map(({ path, by }) =>
  writeRoute({
    method: 'PATCH',
    path,
    permission: 'workspace:manage',
    summary: `Update a workspace ${by}`,
    answers: 'workspaces',
    status: 200,
    accepts: workspaceBody,
    address: workspaceOfPath,
    load: (context) => loadWorkspace(context, context.address),
    body: (bytes, _, { config }) => readWorkspace(bytes, workspaceBody, config),
    act: async (context) => {
      const { tx, deps, resource, audit } = context
      const { organization, workspace } = resource
      const { changes, id } = context.body
      const problems = [...context.body.problems, ...otherId(id, workspace.id)]
      const isMoved = changes.projectId !== undefined && changes.projectId !== workspace.project_id
      const projectId = isMoved
        ? await orProblems(problems, projectFor(context, organization, changes.projectId))
        : workspace.project_id
      await refuseWorkspace(tx, organization, changes, problems, workspace.id)
      const isNew = await updateWorkspace(tx, workspace.id, {
        name: changes.name ?? workspace.name,
        description: changes.description === undefined ? workspace.description : changes.description,
        terraform_version: changes.terraformVersion ?? workspace.terraform_version,
        project_id: projectId,
        settings: mergeSettings(workspace.settings, changes),
        updated_at: timestamp(deps.clock.now()),
      })
      if (!isNew) refuse([NAME_IS_TAKEN])
      await bindTags(context, organization, workspace.id, changes.tagBindings)
      // A project grant applies to the workspaces in the project, so a move changes permissions.
      if (isMoved) await bumpVersion(tx, organization.id)
      const updated = existing(await findWorkspace(tx, workspace.id))
      audit({
        action: 'workspace.update',
        organizationId: organization.id,
        resourceType: 'workspaces',
        resourceId: workspace.id,
        details: { name: updated.name, changes: changesOf(changes) },
      })
      return ok(await workspaceDocument(context, organization, updated))
    },
  }),
)

/** The changes as the audit trail records them: of tag bindings only the keys. */
function changesOf({ tagBindings, ...others }: WorkspaceChanges) {
  return tagBindings === undefined ? others : { ...others, 'tag-bindings': [...tagBindings.keys()] }
}

const removeWorkspace = forms.flatMap(({ path, by }) =>
  [
    { method: 'DELETE', path, isSafe: false } as const,
    { method: 'POST', path: `${path}/actions/safe-delete`, isSafe: true } as const,
  ].map(({ method, path, isSafe }) =>
    writeRoute({
      method,
      path,
      permission: 'workspace:manage',
      summary: `Delete a workspace ${by}${isSafe ? ', unless it is in use' : ''}`,
      status: 204,
      ...(isSafe ? { refuses: [409] } : {}),
      address: workspaceOfPath,
      load: (context) => loadWorkspace(context, context.address),
      act: async ({ tx, resource, audit }) => {
        const { organization, workspace } = resource
        if (isSafe) await refuseUnsafeDelete(tx, workspace)
        await deleteWorkspace(tx, workspace.id)
        await bumpVersion(tx, organization.id)
        audit({
          action: 'workspace.delete',
          organizationId: organization.id,
          resourceType: 'workspaces',
          resourceId: workspace.id,
          details: { name: workspace.name },
        })
        return noContent
      },
    }),
  ),
)

export const workspaceRoutes: readonly Route[] = [
  createWorkspace,
  ...showWorkspace,
  ...changeWorkspace,
  ...removeWorkspace,
]
