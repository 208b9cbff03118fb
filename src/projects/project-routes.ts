import { reachOf } from '../access/granted-places-store.ts'
import { timestamp } from '../core/clock.ts'
import { conflict, invalid } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import { created, noContent, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { document, listDocument, type Fragment } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { loadOrganizationWithGrants, organizationOfPath } from '../organizations/organization-of-path.ts'
import { bumpVersion } from '../organizations/organization-store.ts'
import { projectFragment } from './project-document.ts'
import {
  countProjects,
  deleteProject,
  findProject,
  hasWorkspaces,
  insertProject,
  listVisibleProjects,
  updateProject,
  type ProjectRow,
} from './project-store.ts'
import { loadProject, mergeProjectSettings, newProjectBody, parseProject, projectBody } from './projects.ts'

const NAME_IS_TAKEN = 'name is that of another project of the organization'

const filters = ['q', 'filter[names]'] as const

const listProjects = readRoute({
  path: '/organizations/:organization_name/projects',
  permission: 'project:read',
  summary: 'List projects',
  query: {
    q: 'Part of the name, without case',
    'filter[names]': 'Exact names, separated by commas',
  },
  answers: 'projects',
  isList: true,
  hasPageInMeta: true,
  address: (call) => {
    call.query.include([])
    const page = call.query.page()
    const name = organizationOfPath(call)
    const filter = { q: call.query.text('q'), names: call.query.list('filter[names]') }
    return name === undefined ? undefined : { name, page, filter, links: call.query.withoutPage(filters) }
  },
  load: (context) => loadOrganizationWithGrants(context, context.address.name),
  document: async (context) => {
    const { tx, address, resource, call } = context
    const { organization } = resource
    const { filter, page, links } = address
    const reach = reachOf('project:read', context)
    const { projects, total } = await listVisibleProjects(tx, organization.id, reach, filter, page)
    const data: Fragment[] = []
    for (const project of projects) data.push(await projectFragment(context, organization, project))
    const paging = pagingOf(call.path, links, page, total)
    return ok(listDocument(data, { ...paging, meta: paging.pagination }))
  },
})

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
  body: (bytes) => parseProject(bytes, newProjectBody),
  act: async (context) => {
    const { tx, deps, resource, body, audit } = context
    const { organization } = resource
    const { maxProjects } = deps.config
    if ((await countProjects(tx, organization.id)) >= maxProjects) {
      throw invalid(`an organization may have at most ${maxProjects} projects`, '/data')
    }
    const now = timestamp(deps.clock.now())
    const id = deps.newId('project')
    const isNew = await insertProject(tx, {
      id,
      organization_id: organization.id,
      name: body.name as string,
      description: body.description ?? null,
      settings: mergeProjectSettings('{}', body),
      created_at: now,
      updated_at: now,
    })
    if (!isNew) throw invalid(NAME_IS_TAKEN, '/data/attributes/name')
    audit({
      action: 'project.create',
      organizationId: organization.id,
      resourceType: 'projects',
      resourceId: id,
      details: { name: body.name },
    })
    const project = (await findProject(tx, id)) as ProjectRow
    return created(document(await projectFragment(context, organization, project)))
  },
})

const projectOfPath = (call: Call) => {
  call.query.include([])
  const id = parseId('project', call.params.project_id as string)
  return id === undefined ? undefined : { id }
}

const showProject = readRoute({
  path: '/projects/:project_id',
  permission: 'project:read',
  summary: 'Show a project',
  answers: 'projects',
  address: projectOfPath,
  load: (context) => loadProject(context, context.address.id),
  document: async (context) => {
    const { organization, project } = context.resource
    return ok(document(await projectFragment(context, organization, project)))
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
  body: (bytes, { id }) => parseProject(bytes, projectBody, id),
  act: async (context) => {
    const { tx, deps, resource, body, audit } = context
    const { organization, project } = resource
    const isNew = await updateProject(tx, project.id, {
      name: body.name ?? project.name,
      description: body.description === undefined ? project.description : body.description,
      settings: mergeProjectSettings(project.settings, body),
      updated_at: timestamp(deps.clock.now()),
    })
    if (!isNew) throw invalid(NAME_IS_TAKEN, '/data/attributes/name')
    const updated = (await findProject(tx, project.id)) as ProjectRow
    audit({
      action: 'project.update',
      organizationId: organization.id,
      resourceType: 'projects',
      resourceId: project.id,
      details: { name: updated.name, changes: body },
    })
    return ok(document(await projectFragment(context, organization, updated)))
  },
})

const removeProject = writeRoute({
  method: 'DELETE',
  path: '/projects/:project_id',
  permission: 'project:manage',
  summary: 'Delete a project that holds no workspaces',
  status: 204,
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

export const projectRoutes: readonly Route[] = [
  listProjects,
  createProject,
  showProject,
  changeProject,
  removeProject,
]
