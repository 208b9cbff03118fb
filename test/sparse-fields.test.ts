import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from './support/client.ts'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import { addMember, body, createTeam, createTestOrganization } from './support/world.ts'

type Team = { attributes: Record<string, unknown>; relationships: Record<string, unknown> }

const picked = (all: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))

describe.each(engines)('fields[teams] on %s', (engine) => {
  describe.each(['documented', 'current'] as const)('in the %s dialect', (dialect) => {
    let server: TestServer
    beforeAll(async () => {
      server = await startServer(engine, { dialect })
    })
    afterAll(() => server.stop())

    test('an answer has the fields that the request names, and no others', async () => {
      const organization = await createTestOrganization(server)
      const { client } = organization.owner
      const team = await createTeam(organization, { name: 'readers' })
      await addMember(server, organization, [team])
      const names = ['name', 'users-count', 'users']
      const asked = `fields[teams]=${names.join(',')}`
      const only = ({ attributes, relationships, ...rest }: Team) => ({
        ...rest,
        attributes: picked(attributes, names),
        relationships: picked(relationships, names),
      })
      const whole = await client.get(`/teams/${team}`)
      const few = await client.get(`/teams/${team}?${asked}`)
      expect(few.json.data).toEqual(only(whole.json.data))
      expect(few.json.data.relationships.users.data).toHaveLength(1)
      // The answer without fields is not the cached one with fewer, and the other way round.
      expect((await client.get(`/teams/${team}`)).text).toBe(whole.text)
      expect((await client.get(`/teams/${team}?${asked}`)).text).toBe(few.text)

      const path = `/organizations/${organization.name}/teams`
      const list = await client.get(path)
      const listed = await client.get(`${path}?${asked}&page[size]=1`)
      expect(listed.json.data).toEqual(list.json.data.slice(0, 1).map(only))
      expect(listed.json.links.next).toContain('fields%5Bteams%5D=')
      expect((await client.get(path)).text).toBe(list.text)
      const changed = await client.patch(`/teams/${team}?${asked}`, body('teams', { name: 'writers' }))
      expect(changed.json.data.attributes).toEqual({ name: 'writers', 'users-count': 1 })
    })

    test('a name that teams do not have is 400, and names those that they have', async () => {
      const organization = await createTestOrganization(server)
      const path = `/organizations/${organization.name}/teams`
      const { status, json } = await organization.owner.client.get(`${path}?fields[teams]=name,colour,size`)
      expect(status).toBe(400)
      expect(json.errors.map(({ source }: Json) => source.parameter)).toEqual([
        'fields[teams]',
        'fields[teams]',
      ])
      expect(json.errors[0].detail).toContain('colour is unknown; the names are: name, ')
    })

    test('only a request for fields shows read-audit', async () => {
      const organization = await createTestOrganization(server)
      const { client } = organization.owner
      const team = await createTeam(organization, { 'organization-access': { 'read-audit': true } })
      const flagsOf = async (path: string) =>
        [(await client.get(path)).json.data].flat().find(({ id }: Json) => id === team).attributes[
          'organization-access'
        ]
      for (const path of [`/teams/${team}`, `/organizations/${organization.name}/teams`]) {
        expect(await flagsOf(path)).not.toHaveProperty('read-audit')
        expect(await flagsOf(`${path}?fields[teams]=organization-access`)).toHaveProperty('read-audit', true)
      }
      // A client of the platform, which sends the flags that it knows, does not take it away.
      const known = await flagsOf(`/teams/${team}`)
      await client.patch(`/teams/${team}`, body('teams', { 'organization-access': known }))
      expect(await flagsOf(`/teams/${team}?fields[teams]=organization-access`)).toHaveProperty(
        'read-audit',
        true,
      )
    })
  })
})
