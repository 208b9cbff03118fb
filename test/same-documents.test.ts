import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { descriptions } from '../src/openapi/descriptions.ts'
import type { Client, Json } from './support/client.ts'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import { kinds } from './support/resource-kinds.ts'
import { createState, lock } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  type TestOrganization,
} from './support/world.ts'

/** Requests that include the objects that `placeOf` creates. */
const inclusions = [
  '/organizations/:organization?include=default-project',
  '/organizations/:organization/organization-memberships?include=user,teams',
  '/organizations/:organization/teams?include=users,organization-memberships',
  '/organizations/:organization/workspaces?include=organization,project,locked_by,outputs,current_state_version.outputs,effective_tag_bindings',
  '/organization-memberships?include=user,teams,organization',
  '/organization-memberships/:membership?include=user,teams',
  '/projects/:project?include=effective_tag_bindings',
  '/state-versions/:state?include=outputs',
  '/teams/:team/relationships/organization-memberships?include=user',
  '/teams/:team?include=users,organization-memberships',
  '/workspaces/:workspace?include=organization,project,locked_by,outputs,current_state_version,effective_tag_bindings',
] as const

/** The path that shows an included resource directly, by type. */
const shownAt: Record<string, (id: string, places: Record<string, string>, path: string) => string> = {
  'effective-tag-bindings': (_, { workspace, project }, path) =>
    `${path.startsWith('/projects') ? `/projects/${project}` : `/workspaces/${workspace}`}/effective-tag-bindings`,
  organizations: (id) => `/organizations/${id}`,
  'organization-memberships': (id) => `/organization-memberships/${id}`,
  projects: (id) => `/projects/${id}`,
  'state-version-outputs': (id) => `/state-version-outputs/${id}`,
  'state-versions': (id) => `/state-versions/${id}`,
  teams: (id) => `/teams/${id}`,
  users: (id) => `/users/${id}`,
  'workspace-outputs': (id) => `/state-version-outputs/${id}`,
}

/** Reports and records, which cannot be created and read again. A session shows whether it is the reader's own. */
const reports = [
  'access-changes',
  'access-grants',
  'access-holders',
  'effective-access',
  'audit-events',
  'login-codes',
  'output-changes',
  'output-previews',
  'organization-usages',
  'output-versions',
  'password-links',
  'refusals',
  'sessions',
]
const seenIncluded = new Set<string>()

describe.each(engines)('documents on %s', (engine) => {
  describe.each(['documented', 'current'] as const)('in the dialect %s', (dialect) => {
    let server: TestServer
    let organization: TestOrganization
    beforeAll(async () => {
      // Otherwise a list hides what a single output shows, in the dialect current.
      server = await startServer(engine, { dialect, maskListedOutputs: 'false' })
      organization = await createTestOrganization(server)
      await addMember(server, organization)
    })
    afterAll(() => server.stop())

    /** Reads a resource from its own route or from a list that contains it. */
    const read = async (client: Client, path: string, { id, type }: Json): Promise<Json> => {
      const answer = await client.get(`${path}${path.includes('?') ? '&' : '?'}page[size]=100`)
      expect([path, answer.status]).toEqual([path, 200])
      const all: Json[] = [answer.json.data].flat()
      return all.find((one) => one.id === id && one.type === type)
    }

    test.each(kinds)('of $what are the same when made, shown, changed and listed', async (kind) => {
      const client = kind.type === 'users' ? server.admin : organization.owner.client
      const check = async (item: Json) => {
        server.clock.advance(1_234)
        for (const [index, path] of (await kind.places(item, organization)).entries()) {
          const found = await read(client, path, item)
          if (index > 0 && kind.isShorterInListOf === dialect) expect(lasting(item)).toMatchObject(found)
          else expect([path, lasting(found)]).toEqual([path, lasting(item)])
        }
      }
      const answer = await kind.make(server, organization)
      expect(answer.status, answer.text).toBeLessThan(300)
      expect(answer.json.data.type).toBe(kind.type)
      await check(answer.json.data)
      const update = kind.update?.(answer.json.data)
      if (update === undefined) return
      const changed = await client.patch(update.path, update.body)
      expect(changed.status).toBe(200)
      await check(changed.json.data)
      const before = answer.json.data.attributes['created-at']
      expect(changed.json.data.attributes['created-at']).toBe(before)
    })

    test.each(inclusions)('included by %s are the same as by themselves', async (path) => {
      const { client, ...places } = await placeOf(server)
      const asked = path.replace(
        /:(\w+)/g,
        (_, name: string) => (places as Record<string, string>)[name] as string,
      )
      const answer = await client.get(asked)
      expect(answer.status).toBe(200)
      expect(answer.json.included.length).toBeGreaterThan(0)
      for (const included of answer.json.included as Json[]) {
        seenIncluded.add(included.type)
        const type = included.type === 'workspace-outputs' ? 'state-version-outputs' : included.type
        const place = shownAt[included.type]?.(included.id, places, path) as string
        const shown = await read(client, place, { ...included, type })
        if (included.type === 'workspace-outputs') {
          const { 'output-type': outputType, ...rest } = included.attributes
          expect(shown.attributes).toEqual({ ...rest, type: outputType })
          continue
        }
        // Only callers who may read the membership see the email.
        if (included.type === 'users') delete included.attributes.email
        if (included.type === 'users') delete shown.attributes.email
        // A relationship lists its objects only if the request includes them.
        for (const name of ['outputs', 'organization-memberships']) {
          delete included.relationships?.[name]
          delete shown.relationships?.[name]
        }
        expect(lasting(included)).toEqual(lasting(shown))
      }
    })

    test('outputs are the same in the list and alone', async () => {
      const { client, state: id } = await placeOf(server)
      const listed = (await client.get(`/state-versions/${id}/outputs`)).json.data as Json[]
      expect(listed).toHaveLength(2)
      for (const { attributes, ...rest } of listed) {
        const { detailed_type: second, ...own } = attributes
        expect((await client.get(`/state-version-outputs/${rest.id}`)).json.data).toEqual({
          ...rest,
          attributes: own,
        })
        expect(second).toEqual(own['detailed-type'])
      }
    })
  })

  test('no type of resource is left out', () => {
    const tried = new Set([...kinds.map(({ type }) => type), ...reports, ...seenIncluded])
    expect(descriptions.map(({ type }) => type).filter((type) => !tried.has(type))).toEqual([])
  })
})

/** One object of each kind that includes apply to, in a new organization. The workspace is locked and has a state. */
async function placeOf(server: TestServer) {
  const organization = await createTestOrganization(server)
  const { client } = organization.owner
  const teamId = await createTeam(organization)
  const member = await addMember(server, organization, [teamId])
  const bound = (key: string) => ({
    'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key, value: 'v' } }] },
  })
  const workspaceId = await createWorkspace(organization, {}, bound('a'))
  const { stateVersionId } = await createState(
    organization,
    '{"a": {"value": "1"}, "b": {"value": [1, "x"], "sensitive": true}}',
    workspaceId,
  )
  await lock(client, workspaceId)
  const projectId: string = (await client.get(`/workspaces/${workspaceId}`)).json.data.relationships.project
    .data.id
  await client.patch(`/projects/${projectId}`, body('projects', {}, bound('b')))
  return {
    client,
    organization: organization.name,
    team: teamId,
    membership: member.membershipId,
    workspace: workspaceId,
    project: projectId,
    state: stateVersionId,
  }
}

/** Removes what is shown once and what changes with every use. Members in parentheses are notes of this test. */
function lasting(item: Json): Json {
  const { token: _, 'last-used-at': __, ...attributes } = item.attributes
  const own = Object.entries(item).filter(([name]) => !name.startsWith('('))
  return { ...Object.fromEntries(own), attributes }
}
