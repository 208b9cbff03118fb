import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { isLong } from './support/runs.ts'
import { type TestServer } from './support/server.ts'
import {
  addMember,
  createTeam,
  createTestOrganization,
  createUser,
  invitePerson,
  type Person,
} from './support/world.ts'

const flags = ['manage-membership', 'manage-teams', 'manage-organization-access', 'read-workspaces'] as const

const worlds = fc.record({
  isDelegated: fc.boolean(),
  teams: fc.array(
    fc.record({
      visibility: fc.constantFrom('secret', 'organization'),
      flags: fc.subarray([...flags], { maxLength: 2 }),
      letsMembersManageTokens: fc.boolean(),
      tokens: fc.integer({ min: 0, max: 2 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  /** For each person, the indexes of their teams. The last person is only invited. */
  people: fc.array(fc.uniqueArray(fc.nat({ max: 3 }), { maxLength: 3 }), { minLength: 2, maxLength: 4 }),
})

type WorldPlan = typeof worlds extends fc.Arbitrary<infer W> ? W : never
type World = {
  name: string
  actors: Map<string, Client>
  people: Person[]
  teams: string[]
  teamTokens: string[]
  memberships: string[]
  /** All teams of each membership. */
  teamsOf: Map<string, string[]>
}

/** Creates a world. Its content is what the owner sees. */
async function makeWorld(server: TestServer, plan: WorldPlan): Promise<World> {
  const organization = await createTestOrganization(server, { 'delegated-team-management': plan.isDelegated })
  const { name, owner } = organization
  const teams: string[] = []
  for (const team of plan.teams) {
    const id = await createTeam(organization, {
      visibility: team.visibility,
      'organization-access': Object.fromEntries(team.flags.map((flag) => [flag, true])),
      'allow-member-token-management': team.letsMembersManageTokens,
    })
    teams.push(id)
  }
  const actors = new Map<string, Client>([
    ['owner', owner.client],
    ['site administrator', server.admin],
    ['outsider', (await createUser(server)).client],
  ])
  const people: Person[] = [owner]
  for (const [number, places] of plan.people.entries()) {
    const ids = places.flatMap((place) => teams[place] ?? [])
    const isInvited = number === plan.people.length - 1
    const person = isInvited ? await createUser(server) : await addMember(server, organization, ids)
    if (isInvited) await invitePerson(organization, person, ids)
    people.push(person)
    actors.set(isInvited ? 'invited' : `member ${number}`, person.client)
  }
  const all = (await owner.client.get(`/organizations/${name}/teams`)).json.data.map(
    ({ id }: { id: string }) => id,
  )
  const ownersTeam = all.find((id: string) => !teams.includes(id)) as string
  const teamTokens: string[] = []
  for (const [place, team] of [...teams, ownersTeam].entries()) {
    for (let count = 0; count < (plan.teams[place]?.tokens ?? 1); count++) {
      const made = await owner.client.post(`/teams/${team}/authentication-tokens`)
      teamTokens.push(made.json.data.id)
      actors.set(
        team === ownersTeam ? "owners' token" : `token of team ${place}`,
        server.client(made.json.data.attributes.token),
      )
    }
  }
  const own = await owner.client.post(`/organizations/${name}/authentication-token`)
  actors.set('organization token', server.client(own.json.data.attributes.token))
  const list = await owner.client.get(`/organizations/${name}/organization-memberships`)
  const teamsOf = new Map<string, string[]>(
    list.json.data.map((item: never) => [
      item['id'],
      (item['relationships']['teams']['data'] as { id: string }[]).map(({ id }) => id),
    ]),
  )
  return { name, actors, people, teams: all, teamTokens, memberships: [...teamsOf.keys()], teamsOf }
}

/** The ids in all pages of a list. They must be unique and match the total. Undefined if the answer is 404. */
async function listed(client: Client, path: string): Promise<string[] | undefined> {
  const ids: string[] = []
  for (let page = 1; ; page++) {
    const { status, json } = await client.get(`${path}?page[size]=3&page[number]=${page}`)
    if (status === 404) return undefined
    expect(status).toBe(200)
    ids.push(...json.data.map(({ id }: { id: string }) => id))
    if (json.meta.pagination['next-page'] !== null) continue
    expect(new Set(ids).size).toBe(ids.length)
    expect(json.meta.pagination['total-count']).toBe(ids.length)
    return ids.sort()
  }
}

async function readable(client: Client, folder: string, ids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const id of ids) if ((await client.get(`/${folder}/${id}`)).status === 200) found.push(id)
  return found.sort()
}

async function checkActor(client: Client, world: World): Promise<void> {
  const { name } = world
  const seenOrganizations = (await listed(client, '/organizations')) ?? []
  expect(seenOrganizations.includes(name)).toBe((await client.get(`/organizations/${name}`)).status === 200)

  const seenTeams = await readable(client, 'teams', world.teams)
  expect((await listed(client, `/organizations/${name}/teams`)) ?? []).toEqual(seenTeams)
  for (const team of world.teams) {
    const members = await client.get(`/teams/${team}/relationships/organization-memberships`)
    expect(members.status).toBe(seenTeams.includes(team) ? 200 : 404)
  }

  const seenMemberships = await readable(client, 'organization-memberships', world.memberships)
  const list = await listed(client, `/organizations/${name}/organization-memberships`)
  if (list === undefined) expect(seenMemberships.length).toBeLessThanOrEqual(1)
  else expect(list).toEqual(seenMemberships)
  for (const id of seenMemberships) {
    const shown = await client.get(`/organization-memberships/${id}?include=teams`)
    const teams = shown.json.data.relationships.teams.data.map((team: { id: string }) => team.id)
    // An invited user sees no team yet, not even those visible to the organization.
    const expected = (world.teamsOf.get(id) ?? []).filter((team) => seenTeams.includes(team))
    expect(teams.sort()).toEqual(expected.sort())
    expect(shown.json.included.map((team: { id: string }) => team.id).sort()).toEqual(expected)
  }

  expect((await listed(client, `/organizations/${name}/team-tokens`)) ?? []).toEqual(
    await readable(client, 'authentication-tokens', world.teamTokens),
  )
  for (const team of world.teams) {
    const ofTeam = await listed(client, `/teams/${team}/authentication-tokens`)
    expect(await readable(client, 'authentication-tokens', ofTeam ?? [])).toEqual(ofTeam ?? [])
    const account = await client.get(`/users/api-team_${team.slice(5)}`)
    if (account.status === 200) expect(seenTeams).toContain(team)
  }
  for (const { id } of world.people) {
    const tokens = await listed(client, `/users/${id}/authentication-tokens`)
    if (tokens === undefined) continue
    expect(await readable(client, 'authentication-tokens', tokens)).toEqual(tokens)
  }
}

onEachEngine('lists and reads', (server) => {
  test(
    'in any organization, the lists of each caller hold exactly the objects that they can read',
    { timeout: 3_600_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(worlds, async (plan) => {
          const world = await makeWorld(server, plan)
          for (const [actor, client] of world.actors) {
            try {
              await checkActor(client, world)
            } catch (error) {
              throw new Error(`as ${actor}: ${String(error)}`, { cause: error })
            }
          }
        }),
        { numRuns: isLong ? 200 : 4, endOnFailure: true },
      )
    },
  )
})
