import { accessKinds, type AccessKind } from './both-sides.ts'
import { forEach, makeUnlessThere, readOf, SOME_AT_ONCE, type Context, type Place } from './context.ts'
import type { ProjectRecord, TeamRecord, WorkspaceRecord } from './records.ts'
import { relatedId, type Resource } from './source-lists.ts'

/** Copies the access of teams to the projects, or to the workspaces. */
export async function importAccess(
  context: Context,
  kind: AccessKind,
  places: readonly (ProjectRecord | WorkspaceRecord)[],
  teams: readonly TeamRecord[],
): Promise<void> {
  const { source, report, organization } = context
  const { relation, type } = accessKinds[kind]
  const names = new Map(teams.map((team) => [team.id, team.name]))
  const work = async ({ id, name }: ProjectRecord | WorkspaceRecord) => {
    const place = context[type].get(id)
    // The missing project or workspace has already been reported.
    if (place === undefined) return
    const records = await readOf(context, kind, () => source.access(kind, organization, id), `all on ${name}`)
    const here = records.length === 0 ? new Map<string, Resource>() : await accessHere(context, kind, place)
    for (const { teamId, attributes } of records) {
      const what = `${names.get(teamId) ?? 'a team'} on ${name}`
      const team = context.teams.get(teamId)
      if (team === undefined) {
        report.missing(kind, what, 'the team was not copied')
        continue
      }
      await makeUnlessThere(context, here.get(team.id), {
        kind,
        name: what,
        path: `/${kind}`,
        attributes,
        relationships: {
          team: { data: { type: 'teams', id: team.id } },
          [relation]: { data: { type, id: place.id } },
        },
      })
    }
  }
  await forEach(context, `access to ${type}`, places, work, SOME_AT_ONCE)
}

/** Existing access by the team's id. */
async function accessHere(
  { target }: Context,
  kind: AccessKind,
  { id, isNew }: Place,
): Promise<Map<string, Resource>> {
  if (isNew) return new Map()
  const { data } = await target.list(`/${kind}`, { [`filter[${accessKinds[kind].relation}][id]`]: id })
  return new Map(data.map((resource) => [relatedId(resource, 'team') ?? '', resource]))
}
