import { isPermitted } from '../access/decide.ts'
import { reachOf } from '../access/granted-places-store.ts'
import { existing } from '../core/existing.ts'
import { placeOf } from '../effective-access/places.ts'
import { dryRunOfPlaces } from '../effective-access/place-dry-run.ts'
import { invalidBy, type Problem } from '../core/errors.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import { done } from '../http/outcome.ts'
import { read } from '../http/read-route.ts'
import type { Route, Viewer } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { besideTakenName, nameIsTaken, orProblems, otherId, tooMany } from '../jsonapi/body.ts'
import { organizationWithGrantsPlace } from '../organizations/organization-place.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { findProject } from '../projects/project-store.ts'
import { recorded, setTagBindings } from '../tag-bindings/tag-bindings.ts'
import { refuseUnsafeDelete } from '../state-versions/safe-delete.ts'
import { workspaceDocument } from './workspace-document.ts'
import { include } from './workspace-includes.ts'
import { withIncluded } from './workspace-list-routes.ts'
import { countWorkspaces } from './workspace-list-store.ts'
import { namedWorkspacePlace, workspacePlace } from './workspace-place.ts'
import { deleteWorkspace, findWorkspaceByName, insertWorkspace, updateWorkspace } from './workspace-store.ts'
import { addTags } from './workspace-tag-store.ts'
import { tagsToAdd, tooManyTags } from './workspace-tags.ts'
import {
  ANY_VERSION,
  mergeSettings,
  newWorkspaceBody,
  readNewWorkspace,
  readWorkspace,
  refuseNameInDryRun,
  workspaceBody,
  workspaceColumns,
  type LoadedWorkspace,
  type WorkspaceChanges,
} from './workspaces.ts'

const NAME_IS_TAKEN = nameIsTaken('workspace')

const TAGS_POINTER = '/data/relationships/tags/data'

/** One in which the caller may not create workspaces counts as missing: a problem is added. */
async function projectFor(
  { tx, actor, standing, deps }: Viewer,
  organization: OrganizationRow,
  projectId: string,
  problems: Problem[],
): Promise<string | undefined> {
  const id = parseId('project', projectId)
  const found = await findProject(tx, id ?? NO_ID)
  const project = found?.organization_id === organization.id ? found : undefined
  const grants = await deps.grants.onProject(tx, actor, organization, project?.id ?? NO_ID)
  if (project !== undefined && isPermitted('workspace:create', actor, standing, { grants })) return project.id
  const detail = 'project must be one in which you may create workspaces'
  problems.push({ detail, pointer: '/data/relationships/project' })
  return undefined
}

const taggedBy = ({ id }: { id: string }) => ({ column: 'workspace_id', id }) as const

/** The project after a change. If it cannot be the named one, a problem is added. */
async function newProject(
  viewer: Viewer,
  { organization, workspace }: LoadedWorkspace,
  { projectId }: WorkspaceChanges,
  problems: Problem[],
): Promise<string | undefined> {
  if (projectId === undefined || projectId === workspace.project_id) return workspace.project_id
  return projectFor(viewer, organization, projectId, problems)
}

const scopeOf = ({ organization, workspace }: LoadedWorkspace) => ({
  organization,
  id: workspace.id,
  places: [placeOf(workspace)],
})

type Form = readonly [place: typeof workspacePlace, by: 'by id' | 'by name']

/** Each route exists with the id and with the name. */
const forms: readonly Form[] = [
  [workspacePlace, 'by id'],
  [namedWorkspacePlace, 'by name'],
]

const show = ([place, by]: Form) =>
  read(place, '', {
    permission: 'workspace:read',
    summary: `Show a workspace ${by}`,
    query: include,
    answers: 'workspaces',
    refuses: [409],
    isPolled: true,
    document: async (context) => {
      const { tx, query: asked, resource } = context
      if (asked.include.has('project') && reachOf('workspace:read', context) !== 'everything') {
        await context.willLookAt(() => countWorkspaces(tx, resource.organization.id))
      }
      const made = await workspaceDocument({ ...context, result: resource.workspace })
      return withIncluded(made, context.query.include)
    },
  })

const change = ([place, by]: Form) =>
  write(place, '', {
    method: 'PATCH',
    status: 200,
    permission: 'workspace:manage',
    summary: `Update a workspace ${by}`,
    answers: 'workspaces',
    accepts: workspaceBody,
    body: (bytes, { config }) => readWorkspace(bytes, config),
    dryRun: async (context) => {
      const { resource, body } = context
      refuseNameInDryRun(context, body.changes)
      // The write finds the problems once more, and refuses them.
      const newProjectId = await newProject(context, resource, body.changes, [])
      return dryRunOfPlaces(context, { ...scopeOf(resource), newProjectId: newProjectId ?? null })
    },
    problems: async (context) => {
      const { tx, resource, body, problems } = context
      const { organization, workspace } = resource
      const { name } = body.changes
      problems.push(...otherId(body.id, workspace.id))
      const project = await newProject(context, resource, body.changes, problems)
      const isMoved = project !== workspace.project_id
      const find = (taken: string) => findWorkspaceByName(tx, organization.id, taken)
      await besideTakenName(problems, NAME_IS_TAKEN, name, find, workspace.id)
      return { isMoved, project }
    },
    act: async (context) => {
      const { tx, resource, body, checked, now } = context
      const { organization, workspace } = resource
      const { changes } = body
      const updated = await updateWorkspace(tx, workspace.id, {
        ...workspaceColumns(changes),
        project_id: existing(checked.project),
        settings: mergeSettings(workspace.settings, changes),
        updated_at: now,
      })
      if (updated === undefined) throw invalidBy(NAME_IS_TAKEN)
      await setTagBindings(context, organization.id, taggedBy(workspace), changes.tagBindings)
      const details = { name: updated.name, changes: recorded(changes) }
      // A project grant applies to the workspaces in the project, so a move changes permissions.
      return { ...done(updated, { action: 'workspace.update', details }), keepsAccess: !checked.isMoved }
    },
    document: workspaceDocument,
  })

const remove = ([place, by]: Form) =>
  [false, true].map((isSafe) =>
    write(place, isSafe ? '/actions/safe-delete' : '', {
      method: isSafe ? 'POST' : 'DELETE',
      status: 204,
      permission: 'workspace:manage',
      summary: `Delete a workspace ${by}${isSafe ? ', unless it is in use' : ''}`,
      ...(isSafe ? { refuses: [409] } : {}),
      dryRun: (context) => dryRunOfPlaces(context, scopeOf(context.resource)),
      act: async ({ tx, resource: { workspace } }) => {
        if (isSafe) await refuseUnsafeDelete(tx, workspace)
        await deleteWorkspace(tx, workspace.id)
        return done(workspace, { action: 'workspace.delete', details: { name: workspace.name } })
      },
    }),
  )

export const workspaceRoutes: readonly Route[] = [
  write(organizationWithGrantsPlace, '/workspaces', {
    method: 'POST',
    status: 201,
    permission: 'workspace:create',
    summary: 'Create a workspace',
    answers: 'workspaces',
    accepts: newWorkspaceBody,
    keepsAccess: true,
    body: (bytes, { config }) => readNewWorkspace(bytes, config),
    isOneInsert: ({ changes }) => changes.tags === undefined && changes.tagBindings === undefined,
    problems: async (context) => {
      const { tx, deps, resource, body, problems } = context
      const { organization } = resource
      const { name, projectId = organization.default_project_id, tags: wanted = [] } = body.changes
      const { maxWorkspaces } = deps.config
      const project = await projectFor(context, organization, projectId, problems)
      if ((await countWorkspaces(tx, organization.id)) + (tx.beside ?? 0) >= maxWorkspaces) {
        problems.push(tooMany('workspaces', maxWorkspaces))
      }
      const tags = await orProblems(problems, tagsToAdd(context, organization.id, wanted, TAGS_POINTER))
      problems.push(...tooManyTags(new Set(tags).size, deps.config, TAGS_POINTER))
      const find = (taken: string) => findWorkspaceByName(tx, organization.id, taken)
      await besideTakenName(problems, NAME_IS_TAKEN, name, find)
      return { project, tags }
    },
    act: async (context) => {
      const { tx, deps, resource, body, checked, now } = context
      const { organization } = resource
      const { changes } = body
      const projectId = existing(checked.project)
      const workspace = await insertWorkspace(tx, {
        id: deps.newId('workspace'),
        organization_id: organization.id,
        project_id: projectId,
        ...workspaceColumns(changes),
        name: changes.name,
        terraform_version: changes.terraformVersion ?? ANY_VERSION,
        settings: mergeSettings('{}', changes),
        created_at: now,
        updated_at: now,
      })
      if (workspace === undefined) throw invalidBy(NAME_IS_TAKEN)
      await addTags(tx, workspace, existing(checked.tags))
      await setTagBindings(context, organization.id, taggedBy(workspace), changes.tagBindings)
      const details = { name: workspace.name, project: projectId }
      return done(workspace, { action: 'workspace.create', details })
    },
    document: workspaceDocument,
  }),

  ...forms.map(show),
  ...forms.map(change),
  ...forms.flatMap(remove),
]
