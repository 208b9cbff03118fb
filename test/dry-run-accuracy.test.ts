import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Client } from './support/client.ts'
import { changesOf, type Change } from './support/dry-runs.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createGrants, grantsAndMembers } from './support/random-grants.ts'
import { longTimeout, runs } from './support/runs.ts'
import type { TestServer } from './support/server.ts'
import { body, grantBody, inProject } from './support/world.ts'

type World = Awaited<ReturnType<typeof createGrants>>
type Write = readonly [method: string, path: string, sent?: object]
type Access = { level: string; may: string[]; isGranted: boolean }
/** Access by `SUBJECT:PLACE`, the id of an effective access. */
type Levels = Map<string, Access>

/** The rows of every table that a write with a dry run changes. */
const rowsOf = (server: TestServer) =>
  server.app.deps.database.read(async ({ db }) => ({
    events: await db
      .selectFrom('audit_events')
      .select(({ fn }) => fn.countAll().as('count'))
      .execute(),
    versions: await db.selectFrom('organizations').select(['id', 'version']).orderBy('id').execute(),
    teams: await db.selectFrom('teams').selectAll().orderBy('id').execute(),
    onWorkspaces: await db.selectFrom('team_workspaces').selectAll().orderBy('id').execute(),
    onProjects: await db.selectFrom('team_projects').selectAll().orderBy('id').execute(),
    workspaces: await db.selectFrom('workspaces').selectAll().orderBy('id').execute(),
    projects: await db.selectFrom('projects').selectAll().orderBy('id').execute(),
    memberships: await db.selectFrom('memberships').selectAll().orderBy('id').execute(),
    users: await db.selectFrom('users').select(['id', 'is_suspended']).orderBy('id').execute(),
    members: await db.selectFrom('team_members').selectAll().orderBy('team_id').orderBy('user_id').execute(),
  }))

/** The actions of an effective access, by the names that a dry run uses. */
function mayOf(attributes: {
  may: Record<string, boolean>
  'may-in-workspaces'?: Record<string, boolean>
}): string[] {
  const names = (shown: Record<string, boolean>) => Object.keys(shown).filter((name) => shown[name])
  const inWorkspaces = names(attributes['may-in-workspaces'] ?? {})
  return [...names(attributes.may), ...inWorkspaces.map((name) => `workspaces/${name}`)]
}

/** The effective access of every team and user of the organization. */
async function readLevels(client: Client, world: World): Promise<Levels> {
  const { organization, teamIds, members, projects } = world
  const path = `/organizations/${organization.name}/effective-access`
  const subjects = [
    ...[...members, organization.owner].map(({ id }) => `user=${id}`),
    ...teamIds.map((id) => `team=${id}`),
  ]
  const found: Levels = new Map()
  for (const subject of subjects) {
    for (const place of ['', ...projects.map((id) => `&project=${id}`)]) {
      const { status, json } = await client.get(`${path}?${subject}${place}`)
      // A deleted team or project is 404, and so is somebody who was removed.
      if (status !== 200) continue
      for (const { id, attributes } of json.data) {
        const grants: { source: string }[] = attributes.grants
        const isGranted = grants.some(({ source }) => source.startsWith('team-'))
        found.set(id, { level: attributes.level, may: mayOf(attributes), isGranted })
      }
    }
  }
  return found
}

/** One write of each kind that has a dry run, if the world allows it. */
function writesOf({ teamIds, projects, workspaces, members, workspaceGrants, projectGrants }: World) {
  const [first, second, third] = teamIds as [string, string, string]
  const workspace = workspaces[2] as string
  const project = projects[0] as string
  const ofWorkspace = [...workspaceGrants.values()].flat()
  const ofProject = [...projectGrants.values()].flat()
  const has = (grants: string[] | undefined) => grants !== undefined && grants.length > 0
  const flags = { 'manage-workspaces': true, 'read-projects': true }
  const joining = { data: [{ type: 'organization-memberships', id: members[1]?.membershipId }] }
  const leaving = { data: [{ type: 'users', id: members[0]?.username }] }
  const writes: Write[] = [
    ['PATCH', `/teams/${first}`, body('teams', { 'organization-access': flags })],
    ['PATCH', `/team-workspaces/${ofWorkspace[0]}`, body('team-workspaces', { access: 'plan' })],
    ['POST', `/teams/${second}/relationships/organization-memberships`, joining],
    ['DELETE', `/teams/${first}/relationships/users`, leaving],
    ['DELETE', `/team-workspaces/${ofWorkspace.at(-1)}`],
  ]
  if (!has(workspaceGrants.get(workspace))) {
    writes.push(['POST', '/team-workspaces', grantBody(second, 'workspace', workspace, { access: 'admin' })])
  }
  if (!has(projectGrants.get(project))) {
    writes.push(['POST', '/team-projects', grantBody(third, 'project', project, { access: 'maintain' })])
  }
  if (has(ofProject)) {
    writes.push(
      ['PATCH', `/team-projects/${ofProject[0]}`, body('team-projects', { access: 'write' })],
      ['DELETE', `/team-projects/${ofProject[0]}`],
    )
  }
  const moved = { data: [workspaces[0], workspaces[1]].map((id) => ({ type: 'workspaces', id })) }
  writes.push(
    ['PATCH', `/workspaces/${workspaces[0]}`, movedTo(projects[1] as string)],
    ['POST', `/projects/${projects[2]}/relationships/workspaces`, moved],
    ['DELETE', `/organization-memberships/${members[2]?.membershipId}`],
    ['DELETE', `/projects/${project}`],
    ['POST', `/workspaces/${workspaces[1]}/actions/safe-delete`],
    ['DELETE', `/workspaces/${workspaces[0]}`],
    ['DELETE', `/teams/${third}`],
  )
  return writes
}

const movedTo = (project: string) => body('workspaces', {}, inProject(project))

const lineOf = (id: string, from?: string, to?: string, gained: string[] = [], lost: string[] = []) =>
  `${id} ${from} ${to} +${gained.toSorted().join()} -${lost.toSorted().join()}`

/** A line for each difference between the levels before and after a write that its dry run lists. */
function differencesOf([method, path]: Write, before: Levels, after: Levels): string[] {
  // A dry run of a workspace does not list its project, which may become visible or hidden, too.
  const isOnWorkspaces = /^\/team-workspaces|^\/workspaces|\/relationships\/workspaces$/.test(path)
  // A dry run of a deletion lists those whom a grant of a team lets in, and not owners, for example.
  const isDeletion = /^\/(?:workspaces|projects)/.test(path) && (method === 'DELETE' || path.includes('safe'))
  return [...before].flatMap(([id, { level, may, isGranted }]) => {
    if ((isOnWorkspaces && !id.includes(':ws-')) || (isDeletion && !isGranted)) return []
    // The access of a deleted team cannot be read.
    const now: Omit<Access, 'isGranted'> = after.get(id) ?? { level: 'none', may: [] }
    const gained = now.may.filter((name) => !may.includes(name))
    const lost = may.filter((name) => !now.may.includes(name))
    const isSame = level === now.level && gained.length === 0 && lost.length === 0
    return isSame ? [] : [lineOf(id, level, now.level, gained, lost)]
  })
}

/** The same lines for the answer to a dry run, about the places whose levels were read. */
function answeredLines(changes: Change[], before: Levels): string[] {
  return (
    changes
      .filter(({ on }) => on.type !== 'organizations')
      .map((change) => ({ ...change, id: `${change.who.id}:${change.on.id}` }))
      // The test does not read the levels of the Default Project.
      .filter(({ id }) => before.has(id))
      .map(({ id, from, to, gained, lost }) => lineOf(id, from, to, gained, lost))
  )
}

onEachEngine('the answer to a dry run', (server) => {
  test(
    'names the changes of access that the write then makes, and the dry run writes nothing',
    async () => {
      await fc.assert(
        fc.asyncProperty(grantsAndMembers, async (random) => {
          const world = await createGrants(server, random)
          const { client } = world.organization.owner
          let before = await readLevels(client, world)
          for (const [method, path, sent] of writesOf(world)) {
            const write = `${method} ${path}`
            const rows = await rowsOf(server)
            const answered = changesOf(await client.request(method, `${path}?dry-run=true`, sent))
            expect(await rowsOf(server), write).toEqual(rows)

            expect((await client.request(method, path, sent)).status, write).toBeLessThan(300)
            const after = await readLevels(client, world)
            const differences = differencesOf([method, path, sent], before, after)
            expect(answeredLines(answered, before).toSorted(), write).toEqual(differences.toSorted())
            before = after
          }
        }),
        runs(1, 50),
      )
    },
    longTimeout * 3,
  )
})
