import { compare, forEach, make, readOf, SOME_AT_ONCE, type Context, type Place } from './context.ts'
import type { AccessRecord, ProjectRecord, TeamRecord, WorkspaceRecord } from './records.ts'
import { relatedId, type Resource } from './source-lists.ts'

type Kinds =
  | { kind: 'team-projects'; relation: 'project'; type: 'projects' }
  | { kind: 'team-workspaces'; relation: 'workspace'; type: 'workspaces' }

export async function importProjectAccess(
  context: Context,
  projects: readonly ProjectRecord[],
  teams: readonly TeamRecord[],
): Promise<void> {
  const { source, organization } = context
  const kinds = { kind: 'team-projects', relation: 'project', type: 'projects' } as const
  const work = (project: ProjectRecord) =>
    importAccess(context, kinds, { ...project, place: context.projects.get(project.id) }, teams, () =>
      source.projectAccess(organization, project),
    )
  await forEach(context, 'access to projects', projects, work, SOME_AT_ONCE)
}

export async function importWorkspaceAccess(
  context: Context,
  workspaces: readonly WorkspaceRecord[],
  teams: readonly TeamRecord[],
): Promise<void> {
  const { source, organization } = context
  const kinds = { kind: 'team-workspaces', relation: 'workspace', type: 'workspaces' } as const
  const work = (workspace: WorkspaceRecord) =>
    importAccess(context, kinds, { ...workspace, place: context.workspaces.get(workspace.id) }, teams, () =>
      source.workspaceAccess(organization, workspace),
    )
  await forEach(context, 'access to workspaces', workspaces, work, SOME_AT_ONCE)
}

async function importAccess(
  context: Context,
  { kind, relation, type }: Kinds,
  { name, place }: { name: string; place: Place | undefined },
  teams: readonly TeamRecord[],
  read: () => Promise<AccessRecord[]>,
): Promise<void> {
  // The missing project or workspace has already been reported.
  if (place === undefined) return
  const { report } = context
  const records = await readOf(context, kind, read, `all on ${name}`)
  const here =
    records.length === 0 ? new Map<string, Resource>() : await accessHere(context, kind, relation, place)
  const names = new Map(teams.map((team) => [team.id, team.name]))
  for (const { teamId, attributes } of records) {
    const what = `${names.get(teamId) ?? 'a team'} on ${name}`
    const team = context.teams.get(teamId)
    if (team === undefined) {
      report.missing(kind, what, 'the team was not copied')
      continue
    }
    const there = here.get(team.id)
    if (there !== undefined) {
      report.there(kind)
      compare(context, kind, what, attributes, there.attributes)
    } else {
      await make(context, {
        kind,
        name: what,
        path: `/${kind}`,
        type: kind,
        attributes,
        relationships: {
          team: { data: { type: 'teams', id: team.id } },
          [relation]: { data: { type, id: place.id } },
        },
      })
    }
  }
}

/** Existing access by the team's id. */
async function accessHere(
  { target }: Context,
  kind: Kinds['kind'],
  relation: Kinds['relation'],
  { id, isNew }: Place,
): Promise<Map<string, Resource>> {
  if (isNew) return new Map()
  const { data } = await target.list(`/${kind}`, { [`filter[${relation}][id]`]: id })
  return new Map(data.map((resource) => [relatedId(resource, 'team') ?? '', resource]))
}
