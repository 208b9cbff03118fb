import { reachOf } from '../access/granted-places-store.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, conflict, invalid, type Problem } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { created, noContent, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route, type Viewer } from '../http/route.ts'
import { refuse, refuseBesideTakenName } from '../jsonapi/body.ts'
import { document, listDocument, type Fragment } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import type { Query } from '../jsonapi/query.ts'
import { loadOrganizationWithGrants, organizationOfPath } from '../organizations/organization-of-path.ts'
import { bumpVersion, type OrganizationRow } from '../organizations/organization-store.ts'
import { effectiveTagBindingFragment } from '../tag-bindings/tag-binding-document.ts'
import { findTagBindings } from '../tag-bindings/tag-binding-store.ts'
import { taggedFilterOf, writeTagBindings } from '../tag-bindings/tag-bindings.ts'
import { projectFragment } from './project-document.ts'
import {
  countProjects,
  deleteProject,
  findProject,
  findProjectByName,
  hasWorkspaces,
  insertProject,
  listVisibleProjects,
  updateProject,
  type ProjectRow,
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

/** 422 for these problems, with that of a name which is another project's. */
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

const includable = ['effective_tag_bindings', 'effective-tag-bindings'] as const
const includeHelp = { include: 'effective_tag_bindings' }
const filters = ['q', 'filter[names]', 'sort', 'include'] as const

/** Documents of some projects, and with `isBound` what their bindings add to them. */
async function projectFragments(
  viewer: Viewer,
  organization: OrganizationRow,
  projects: readonly ProjectRow[],
  isBound: boolean,
): Promise<{ data: Fragment[]; included: Fragment[] | undefined }> {
  const ids = projects.map(({ id }) => id)
  const rows = isBound ? await findTagBindings(viewer.tx, 'project_id', ids) : []
  const bindings = Map.groupBy(rows, (row) => row.project_id)
  const data: Fragment[] = []
  for (const project of projects) {
    const own = isBound ? (bindings.get(project.id) ?? []) : undefined
    data.push(await projectFragment(viewer, organization, project, own))
  }
  const included = rows.map((binding) => effectiveTagBindingFragment({ binding, projectId: null }))
  return { data, included: isBound ? included : undefined }
}

const projectSorts = ['name', '-name'] as const

function sortOf(query: Query): (typeof projectSorts)[number] {
  const sort = query.text('sort') ?? 'name'
  if (sort === 'name' || sort === '-name') return sort
  const detail = `sort must be ${projectSorts.join(' or ')}`
  throw new AppError('invalid-query', [{ detail, parameter: 'sort' }])
}

const listProjects = readRoute({
  path: '/organizations/:organization_name/projects',
  permission: 'project:read',
  summary: 'List projects',
  query: {
    q: 'Part of the name, without case',
    'filter[names]': 'Exact names, separated by commas',
    'filter[tagged][0][key]': 'Projects with this key-value tag; several: [1] and so on',
    'filter[tagged][0][value]': 'The value of that tag; any, if it is not given',
    sort: projectSorts.join(', '),
    ...includeHelp,
  },
  answers: 'projects',
  isList: true,
  hasPageInMeta: true,
  address: (call) => {
    const { query } = call
    const isBound = query.include(includable).size > 0
    const page = query.page()
    const isDescending = sortOf(query) === '-name'
    const tagged = taggedFilterOf(query)
    const name = organizationOfPath(call)
    const filter = { q: query.text('q'), names: query.list('filter[names]'), tagged: tagged.filters }
    const links = query.withoutPage([...filters, ...tagged.names])
    return name === undefined ? undefined : { name, isBound, page, isDescending, filter, links }
  },
  load: (context) => loadOrganizationWithGrants(context, context.address.name),
  document: async (context) => {
    const { tx, address, resource, call } = context
    const { organization } = resource
    const { filter, isDescending, page, links } = address
    const reach = reachOf('project:read', context)
    const { projects, total } = await listVisibleProjects(
      tx,
      organization.id,
      reach,
      filter,
      page,
      isDescending,
    )
    const { data, included } = await projectFragments(context, organization, projects, address.isBound)
    const paging = pagingOf(call.path, links, page, total)
    return ok(listDocument(data, { ...paging, meta: paging.pagination }, included))
  },
})

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
    // A transaction may be tried again: what was given stays as it is.
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
    const project = (await findProject(tx, id)) as ProjectRow
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
    const updated = (await findProject(tx, project.id)) as ProjectRow
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

/** What the audit trail says of them. */
function changesOf({ tagBindings, ...others }: ProjectChanges) {
  return tagBindings === undefined ? others : { ...others, 'tag-bindings': [...tagBindings.keys()] }
}

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
