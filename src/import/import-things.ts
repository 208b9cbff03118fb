import { tagBindingsOf, withTagBindings } from './both-sides.ts'
import { compare, forEach, makeUnlessThere, SOME_AT_ONCE, orReport, type Context } from './context.ts'
import { differences, picked } from './copied-attributes.ts'
import type { OrganizationRecord, ProjectRecord, TeamRecord, WorkspaceRecord } from './records.ts'
import { relatedId, type List, type Resource } from './source-lists.ts'
import { TO_BE_MADE } from './own-client.ts'

/** The objects that already exist here, by name. */
async function namesHere(
  context: Context,
  path: string,
  query: Record<string, string> = {},
): Promise<{ here: Map<string, Resource>; list: List }> {
  const list = context.isMadeLater ? nothing : await context.target.list(pathOf(context, path), query)
  return { here: new Map(list.data.map((resource) => [String(resource.attributes.name), resource])), list }
}

const nothing: List = { data: [], included: new Map() }

export function pathOf({ as }: Context, list: string): string {
  return `/organizations/${encodeURIComponent(as)}/${list}`
}

export async function importProjects(
  context: Context,
  record: OrganizationRecord,
  organization: Resource,
  projects: readonly ProjectRecord[],
): Promise<void> {
  const { here, list } = await namesHere(context, 'projects', withTagBindings)
  const defaultId = relatedId(organization, 'default-project')
  const defaultHere = context.isMadeLater
    ? defaultToBeMade
    : [...here.values()].find(({ id }) => id === defaultId)
  // The default project comes first. It exists in every organization, but may have another name on the source.
  const isDefault = ({ id }: ProjectRecord) => id === record.defaultProjectId
  const ordered = projects.toSorted((a, b) => Number(isDefault(b)) - Number(isDefault(a)))
  await forEach(context, 'projects', ordered, async (project) => {
    const { id, name, attributes, tagBindings } = project
    const own = isDefault(project) ? defaultHere : undefined
    if (own !== undefined) {
      await likeDefault(context, project, own, list)
      here.delete(String(own.attributes.name))
      context.projects.set(id, { id: own.id, isNew: context.isNew })
      return
    }
    const there = here.get(name)
    if (there !== undefined) compareBindings(context, 'projects', project, tagBindingsOf(there, list))
    const place = await makeUnlessThere(context, there, {
      kind: 'projects',
      name,
      path: pathOf(context, 'projects'),
      attributes: { ...attributes, name },
      relationships: bindingsRelation(tagBindings),
    })
    if (place !== undefined) context.projects.set(id, place)
  })
}

function bindingsRelation(bindings: WorkspaceRecord['tagBindings']): Record<string, unknown> {
  if (bindings.length === 0) return {}
  return { 'tag-bindings': { data: bindings.map((attributes) => ({ type: 'tag-bindings', attributes })) } }
}

function compareBindings(
  context: Context,
  kind: 'projects' | 'workspaces',
  { name, tagBindings }: ProjectRecord | WorkspaceRecord,
  here: ReturnType<typeof tagBindingsOf>,
): void {
  compare(context, kind, name, { 'tag-bindings': tagBindings }, { 'tag-bindings': here })
}

const DEFAULT_NAME = 'Default Project'
/** Stands for the default project of an organization that a dry run would create. */
const defaultToBeMade: Resource = {
  id: TO_BE_MADE,
  type: 'projects',
  attributes: { name: DEFAULT_NAME, description: null },
  relationships: {},
  links: {},
}

/** Makes the default project equal to the source's, unless someone has changed it here. */
async function likeDefault(context: Context, project: ProjectRecord, own: Resource, list: List) {
  const { target, report, isNew } = context
  const { name, attributes, tagBindings } = project
  const asked = { ...attributes, name }
  const bound = tagBindingsOf(own, list)
  const others = differences(
    { ...asked, 'tag-bindings': tagBindings },
    { ...own.attributes, 'tag-bindings': bound },
  )
  report.there('projects')
  if (others.length === 0) return
  const isUntouched =
    own.attributes.name === DEFAULT_NAME && own.attributes.description === null && bound.length === 0
  if (!isNew && !isUntouched) {
    compare(context, 'projects', name, asked, own.attributes)
    compareBindings(context, 'projects', project, bound)
  } else {
    const relationships = bindingsRelation(tagBindings)
    await orReport(context, 'projects', name, () =>
      target.send('PATCH', `/projects/${own.id}`, { type: 'projects', attributes: asked, relationships }),
    )
  }
}

export async function importTeams(context: Context, teams: readonly TeamRecord[]): Promise<void> {
  const { target } = context
  const { here } = await namesHere(context, 'teams')
  await forEach(context, 'teams', teams, async ({ id, name, attributes }) => {
    const listed = here.get(name)
    if (name === 'owners') {
      if (context.isMadeLater) context.report.there('teams')
      else if (listed !== undefined) await likeOwners(context, attributes, listed)
      context.teams.set(id, { id: listed?.id ?? TO_BE_MADE, isNew: context.isNew })
      return
    }
    // A list shows only some of the flags, so read the team.
    const there = listed === undefined ? undefined : await target.show(`/teams/${listed.id}`)
    const place = await makeUnlessThere(context, there, {
      kind: 'teams',
      name,
      path: pathOf(context, 'teams'),
      attributes: { ...attributes, name },
    })
    if (place !== undefined) context.teams.set(id, place)
  })
}

/** The owners team always exists. Its settings are copied if the organization is new or the team has no SSO id. */
async function likeOwners(context: Context, attributes: Record<string, unknown>, own: Resource) {
  const { target, report, isNew } = context
  const asked = picked(attributes, ['sso-team-id', 'allow-member-token-management'])
  report.there('teams')
  if (differences(asked, own.attributes).length === 0) return
  if (!isNew && own.attributes['sso-team-id'] !== null) {
    compare(context, 'teams', 'owners', asked, own.attributes)
  } else {
    await orReport(context, 'teams', 'owners', () =>
      target.send('PATCH', `/teams/${own.id}`, { type: 'teams', attributes: asked }),
    )
  }
}

export async function importWorkspaces(
  context: Context,
  workspaces: readonly WorkspaceRecord[],
): Promise<void> {
  const { report } = context
  const { here, list } = await namesHere(context, 'workspaces', withTagBindings)
  const work = async (workspace: WorkspaceRecord) => {
    const { id, name, attributes, projectId, tagNames, tagBindings } = workspace
    const project = projectId === null ? undefined : context.projects.get(projectId)
    if (projectId !== null && project === undefined) {
      report.missing(
        'workspaces',
        name,
        'its project was not copied, and in another project other people could reach it',
      )
      return
    }
    if (workspace.isLocked) report.left('locks', name, 'it is locked in the source, and not here')
    const there = here.get(name)
    if (there !== undefined) {
      const tagsThere = there.attributes['tag-names']
      const asked = { 'tag-names': tagNames.toSorted(), project: project?.id ?? null }
      const actual = {
        'tag-names': Array.isArray(tagsThere) ? tagsThere.map(String).toSorted() : [],
        project: project === undefined ? null : relatedId(there, 'project'),
      }
      compare(context, 'workspaces', name, asked, actual)
      compareBindings(context, 'workspaces', workspace, tagBindingsOf(there, list))
    }
    const tags = { data: tagNames.map((tag) => ({ type: 'tags', attributes: { name: tag } })) }
    const place = await makeUnlessThere(context, there, {
      kind: 'workspaces',
      name,
      path: pathOf(context, 'workspaces'),
      attributes: { ...attributes, name },
      relationships: {
        ...(project === undefined ? {} : { project: { data: { type: 'projects', id: project.id } } }),
        ...(tagNames.length === 0 ? {} : { tags }),
        ...bindingsRelation(tagBindings),
      },
    })
    if (place !== undefined) context.workspaces.set(id, place)
  }
  await forEach(context, 'workspaces', workspaces, work, SOME_AT_ONCE)
}
