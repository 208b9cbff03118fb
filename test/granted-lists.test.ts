import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createGrants, grantsAndMembers, leastGrants } from './support/random-grants.ts'
import { createUser, invitePerson } from './support/world.ts'

type Item = { id: string }
type Project = { attributes: { permissions: Record<string, boolean> } }

onEachEngine('lists of what teams were granted', (server) => {
  /** A list must be readable exactly if one of its objects is, and must show these objects like their own route. */
  async function expectAgreement(client: Client, list: string, kind: string, ids: readonly string[]) {
    const shown: Item[] = []
    for (const id of ids) {
      const answer = await client.get(`/${kind}/${id}`)
      expect([200, 404]).toContain(answer.status)
      if (answer.status === 200) shown.push(answer.json.data)
    }
    const listed = await client.get(list)
    if (shown.length === 0 && listed.status === 404) return
    expect(listed.status).toBe(200)
    const byId = (a: Item, b: Item) => (a.id < b.id ? -1 : 1)
    expect(listed.json.data.toSorted(byId)).toEqual(shown.toSorted(byId))
    expect(listed.json.meta.pagination['total-count']).toBe(shown.length)
  }

  /** The filters by permission must keep exactly the projects whose documents show that permission. */
  async function expectFilteredByRights(client: Client, list: string) {
    const all = await client.get(list)
    for (const asked of [['update'], ['create-workspace']]) {
      const query = asked.map((name) => `filter[permissions][${name}]=true`).join('&')
      const answer = await client.get(`${list}?${query}`)
      expect(answer.status).toBe(all.status)
      if (all.status === 404) continue
      const may = ({ attributes }: Project) => asked.every((name) => attributes.permissions[`can-${name}`])
      const expected = all.json.data.filter(may)
      expect(answer.json.data).toEqual(expected)
      expect(answer.json.meta.pagination['total-count']).toBe(expected.length)
    }
  }

  test('agree with what can be read one by one, for every kind of caller', async () => {
    await fc.assert(
      fc.asyncProperty(grantsAndMembers, async (random) => {
        const made = await createGrants(server, random)
        const { organization, teamIds, workspaces, workspaceGrants, projectGrants } = made
        const callers: Client[] = [organization.owner.client, server.admin]
        const makers = [...teamIds.map((id) => `/teams/${id}`), `/organizations/${organization.name}`]
        for (const maker of makers) {
          const made = await organization.owner.client.post(`${maker}/authentication-token`)
          callers.push(server.client(made.json.data.attributes.token))
        }
        const outsider = await createUser(server)
        callers.push(outsider.client)
        await invitePerson(organization, outsider, teamIds.slice(0, 1))
        callers.push(...made.members.map(({ client }) => client))
        const path = `/organizations/${organization.name}`
        const all = await organization.owner.client.get(`${path}/projects`)
        const projectsAndDefault = all.json.data.map((item: Item) => item.id)
        for (const client of callers) {
          await expectAgreement(client, `${path}/workspaces`, 'workspaces', workspaces)
          await expectAgreement(client, `${path}/projects`, 'projects', projectsAndDefault)
          await expectFilteredByRights(client, `${path}/projects`)
          for (const [id, grants] of workspaceGrants) {
            if ((await client.get(`/workspaces/${id}`)).status === 404) continue
            await expectAgreement(
              client,
              `/team-workspaces?filter[workspace][id]=${id}`,
              'team-workspaces',
              grants,
            )
          }
          for (const [id, grants] of projectGrants) {
            if ((await client.get(`/projects/${id}`)).status === 404) continue
            await expectAgreement(client, `/team-projects?filter[project][id]=${id}`, 'team-projects', grants)
          }
        }
      }),
      { numRuns: 6, examples: [[leastGrants]] },
    )
  }, 180_000)
})
