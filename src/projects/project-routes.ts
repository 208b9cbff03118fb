import { timestamp } from '../core/clock.ts'
import { existing } from '../core/existing.ts'
import { conflict, invalid, type Problem } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { created, noContent, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route, type Viewer } from '../http/route.ts'
import { refuse, refuseBesideTakenName } from '../jsonapi/body.ts'
import { document, type Fragment } from '../jsonapi/document.ts'
import { loadOrganizationWithGrants, organizationOfPath } from '../organizations/organization-of-path.ts'
import { bumpVersion, type OrganizationRow } from '../organizations/organization-store.ts'
import { writeTagBindings } from '../tag-bindings/tag-bindings.ts'
import { includable, includeHelp, projectFragment, projectFragments } from './project-document.ts'
import {
  countProjects,
  deleteProject,
  findProject,
  findProjectByName,
  hasWorkspaces,
  insertProject,
  updateProject,
} from './project-store.ts'
import {
  loadProject,
  mergeProjectSettings,
  newProjectBody,
  projectBody,
  readProject,
  type ProjectChanges,
} from './projects.ts'

const NAME_IS_TAKEN: Problem = {
  detail: 'name is that of another project of the organization',
  pointer: '/data/attributes/name',
}

/** Throws one 422 for these problems and a taken name. */
async function refuseProject(
  tx: Transaction,
  organization: OrganizationRow,
  { name }: ProjectChanges,
  problems: readonly Problem[],
  ownId?: string,
): Promise<void> {
  const findHolder = async () =>
    name === undefined ? undefined : (await findProjectByName(tx, organization.id, name))?.id
  await refuseBesideTakenName(problems, NAME_IS_TAKEN, findHolder, ownId)
}

async function bindTags(
  viewer: Viewer,
  organization: OrganizationRow,
  id: string,
  bindings: ProjectChanges['tagBindings'],
): Promise<void> {
  if (bindings === undefined) return
  await writeTagBindings(viewer, organization.id, { column: 'project_id', id }, bindings, true)
}

const createProject = writeRoute({
  method: 'POST',
  path: '/organizations/:organization_name/projects',
  permission: 'project:create',
  summary: 'Create a project',
  answers: 'projects',
  status: 201,
  accepts: newProjectBody,
  address: (call) => {
    const name = organizationOfPath(call)
    return name === undefined ? undefined : { name }
  },
  load: (context) => loadOrganizationWithGrants(context, context.address.name),
  body: (bytes, _, { config }) => readProject(bytes, newProjectBody, config),
  act: async (context) => {
    const { tx, deps, resource, audit } = context
    const { organization } = resource
    const { changes } = context.body
    const { maxProjects } = deps.config
    // Copied, because the transaction may run again and must not add to the same list twice.
    const problems = [...context.body.problems]
    if ((await countProjects(tx, organization.id)) >= maxProjects) {
      problems.push({ detail: `an organization may have at most ${maxProjects} projects`, pointer: '/data' })
    }
    await refuseProject(tx, organization, changes, problems)
    const now = timestamp(deps.clock.now())
    const id = deps.newId('project')
    const isNew = await insertProject(tx, {
      id,
      organization_id: organization.id,
      name: changes.name as string,
      description: changes.description ?? null,
      settings: mergeProjectSettings('{}', changes),
      created_at: now,
      updated_at: now,
    })
    if (!isNew) refuse([NAME_IS_TAKEN])
    await bindTags(context, organization, id, changes.tagBindings)
    audit({
      action: 'project.create',
      organizationId: organization.id,
      resourceType: 'projects',
      resourceId: id,
      details: { name: changes.name },
    })
    const project = existing(await findProject(tx, id))
    return created(document(await projectFragment(context, organization, project)))
  },
})

const projectOfPath = (call: Call) => {
  const id = parseId('project', call.params.project_id as string)
  return id === undefined ? undefined : { id }
}

const showProject = readRoute({
  path: '/projects/:project_id',
  permission: 'project:read',
  summary: 'Show a project',
  query: includeHelp,
  answers: 'projects',
  address: (call) => {
    const isBound = call.query.include(includable).size > 0
    const project = projectOfPath(call)
    return project === undefined ? undefined : { ...project, isBound }
  },
  load: (context) => loadProject(context, context.address.id),
  document: async (context) => {
    const { resource, address } = context
    const { organization, project } = resource
    const { data, included } = await projectFragments(context, organization, [project], address.isBound)
    return ok(document(data[0] as Fragment, included))
  },
})

const changeProject = writeRoute({
  method: 'PATCH',
  path: '/projects/:project_id',
  permission: 'project:manage',
  summary: 'Update a project',
  answers: 'projects',
  status: 200,
  accepts: projectBody,
  address: projectOfPath,
  load: (context) => loadProject(context, context.address.id),
  body: (bytes, { id }, { config }) => readProject(bytes, projectBody, config, id),
  act: async (context) => {
    const { tx, deps, resource, audit } = context
    const { organization, project } = resource
    const { changes, problems } = context.body
    await refuseProject(tx, organization, changes, problems, project.id)
    const isNew = await updateProject(tx, project.id, {
      name: changes.name ?? project.name,
      description: changes.description === undefined ? project.description : changes.description,
      settings: mergeProjectSettings(project.settings, changes),
      updated_at: timestamp(deps.clock.now()),
    })
    if (!isNew) refuse([NAME_IS_TAKEN])
    await bindTags(context, organization, project.id, changes.tagBindings)
    const updated = existing(await findProject(tx, project.id))
    audit({
      action: 'project.update',
      organizationId: organization.id,
      resourceType: 'projects',
      resourceId: project.id,
      details: { name: updated.name, changes: changesOf(changes) },
    })
    return ok(document(await projectFragment(context, organization, updated)))
  },
})

/** The changes as the audit trail records them: of tag bindings only the keys. */
function changesOf({ tagBindings, ...others }: ProjectChanges) {
  return tagBindings === undefined ? others : { ...others, 'tag-bindings': [...tagBindings.keys()] }
}

const removeProject = writeRoute({
  method: 'DELETE',
  path: '/projects/:project_id',
  permission: 'project:manage',
  summary: 'Delete a project that holds no workspaces',
  status: 204,
  refuses: [409],
  address: projectOfPath,
  load: (context) => loadProject(context, context.address.id),
  act: async ({ tx, resource, audit }) => {
    const { organization, project } = resource
    if (project.id === organization.default_project_id) throw invalid('the default project cannot be deleted')
    if (await hasWorkspaces(tx, project.id)) {
      throw conflict('the project holds workspaces: move them to another one or delete them first')
    }
    await deleteProject(tx, project.id)
    await bumpVersion(tx, organization.id)
    audit({
      action: 'project.delete',
      organizationId: organization.id,
      resourceType: 'projects',
      resourceId: project.id,
      details: { name: project.name },
    })
    return noContent
  },
})

export const projectRoutes: readonly Route[] = [createProject, showProject, changeProject, removeProject]
