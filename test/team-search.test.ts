import { array, assert, constantFrom, property, string, uniqueArray } from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { newId } from '../src/core/ids.ts'
import { inSlices } from '../src/database/slices.ts'
import { BLOCK_SIZE, FoundNames, TeamNameBlock } from '../src/teams/team-name-block.ts'
import { NamePart } from '../src/teams/trigram-index.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { addMember, createTestOrganization } from './support/world.ts'

const letters = 'abcAB01-_z'.split('')
const name = string({ unit: constantFrom(...letters), minLength: 1, maxLength: 12 })

test('blocks of names find what a look at each name finds', () => {
  assert(
    property(
      uniqueArray(name, { maxLength: BLOCK_SIZE }),
      array(name, { minLength: 1, maxLength: 20 }),
      (names, parts) => {
        const teams = names.map((name, number) => ({ name, text: `${name},${number},${number % 2}` }))
        const texts = teams.map(({ text }) => text)
        const blocks = [texts.slice(0, 3), texts.slice(3)].map((some) => new TeamNameBlock(some))
        const find = (part: string, isOpenOnly: boolean, limit: number) => {
          const found = new FoundNames(limit)
          const sought = new NamePart(part)
          sought.anchorBy(blocks.flatMap(({ index }) => index ?? []))
          for (const block of blocks) block.find(sought, isOpenOnly, found)
          return found
        }
        const lowerParts = parts.map((part) => part.toLowerCase())
        // The first half of the parts is searched while only one block has an index.
        blocks[0]?.addIndex()
        for (const [at, part] of lowerParts.entries()) {
          if (at >= parts.length / 2) blocks[1]?.addIndex()
          const expected = teams
            .filter(({ name }) => name.toLowerCase().includes(part))
            .toSorted((a, b) => (a.name < b.name ? -1 : 1))
            .map(({ text }) => text)
          const open = expected.filter((text) => text.endsWith('1'))
          expect(find(part, false, names.length)).toMatchObject({ count: expected.length, first: expected })
          expect(find(part, false, 2)).toMatchObject({ count: expected.length, first: expected.slice(0, 2) })
          expect(find(part, true, 2)).toMatchObject({ count: open.length, first: open.slice(0, 2) })
        }
      },
    ),
    { numRuns: 300 },
  )
})

onEachEngine('q', (server) => {
  test('knows of each new, renamed, hidden and deleted team at once', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const member = await addMember(server, organization)
    const list = `/organizations/${organization.name}/teams`
    const found = async (q: string, who = owner) => {
      const { json } = await who.client.get(`${list}?q=${q}`)
      expect(json.meta.pagination['total-count']).toBe(json.data.length)
      return json.data.map((team: never) => team['attributes']['name'])
    }
    const team = (attributes: object) => ({ data: { type: 'teams', attributes } })
    const create = async (name: string) => {
      const { json } = await owner.client.post(list, team({ name, visibility: 'organization' }))
      return json.data.id as string
    }
    const first = await create('Network-core')
    const second = await create('network-edge')
    await create('payments')
    expect(await found('NETWORK')).toEqual(['Network-core', 'network-edge'])
    expect(await found('e')).toEqual(['Network-core', 'network-edge', 'owners', 'payments'])
    expect(await found('ne')).toEqual(['Network-core', 'network-edge', 'owners'])
    expect(await found('network', member)).toEqual(['Network-core', 'network-edge'])
    await owner.client.patch(`/teams/${first}`, team({ name: 'backbone' }))
    expect(await found('network')).toEqual(['network-edge'])
    expect(await found('backbone')).toEqual(['backbone'])
    await owner.client.patch(`/teams/${second}`, team({ visibility: 'secret' }))
    expect(await found('network', member)).toEqual([])
    expect(await found('network')).toEqual(['network-edge'])
    await owner.client.delete(`/teams/${second}`)
    expect(await found('network')).toEqual([])
    expect(await found('no%25')).toEqual([])
  })

  test('pages through many matches in the order of names', async () => {
    const { name, owner } = await createTestOrganization(server)
    const list = `/organizations/${name}/teams`
    const names = Array.from({ length: 45 }, (_, number) => `match-${(number * 7) % 45}`)
    for (const name of names) {
      await owner.client.post(list, { data: { type: 'teams', attributes: { name } } })
    }
    const seen: string[] = []
    for (const page of [1, 2, 3, 4, 5]) {
      const { json } = await owner.client.get(`${list}?q=match&page[size]=10&page[number]=${page}`)
      expect(json.meta.pagination['total-count']).toBe(45)
      seen.push(...json.data.map((team: never) => team['attributes']['name']))
    }
    expect(seen).toEqual(names.toSorted())
  })

  test('finds every new name while teams are renamed beside it', async () => {
    const { name, owner } = await createTestOrganization(server)
    const list = `/organizations/${name}/teams`
    const team = (name: string) => ({ data: { type: 'teams', attributes: { name } } })
    const { json } = await owner.client.post(list, team('round-0'))
    for (let round = 1; round <= 15; round += 1) {
      const searches = Array.from({ length: 6 }, () => owner.client.get(`${list}?q=round`))
      await Promise.all([
        owner.client.patch(`/teams/${json.data.id}`, team(`round-${round}`)),
        owner.client.post(list, team(`other-${round}`)),
        ...searches,
      ])
      const found = await owner.client.get(`${list}?q=${round % 2 === 0 ? 'round' : 'ROUND'}`)
      expect(found.json.data.map((team: never) => team['attributes']['name'])).toEqual([`round-${round}`])
    }
  })

  /** Makes teams that lie in a block each, from the block of this number on. */
  async function makeFarTeams({ id, from, count }: { id: string; from: number; count: number }) {
    const at = '2026-01-01T00:00:00.000Z'
    const far = Array.from({ length: count }, (_, number) => ({
      number: (from + number) * BLOCK_SIZE,
      id: newId('team'),
      organization_id: id,
      name: `far-${String(number).padStart(3, '0')}`,
      visibility: 'secret' as const,
      organization_access: 0,
      allow_member_token_management: 1 as const,
      created_at: at,
      updated_at: at,
    }))
    await server.app.deps.database.write((tx) => tx.db.insertInto('teams').values(far).execute())
    return far.map((team) => team.name)
  }

  test('reads the names of a very large organization in several transactions, once for all searches', async () => {
    const { id, name, owner } = await createTestOrganization(server)
    const names = await makeFarTeams({ id, from: 50_000, count: 30 })
    const list = `/organizations/${name}/teams?q=FAR&page[size]=50`
    const answers = await Promise.all(Array.from({ length: 8 }, () => owner.client.get(list)))
    for (const { status, json } of answers) {
      expect(status).toBe(200)
      expect(json.data.map((team: never) => team['attributes']['name'])).toEqual(names)
    }
  })

  test('finds no hidden team on a page far behind the first', async () => {
    const organization = await createTestOrganization(server)
    const { id, name } = organization
    const member = await addMember(server, organization)
    const at = '2026-01-01T00:00:00.000Z'
    const teams = Array.from({ length: 2_040 }, (_, number) => ({
      number: 55_000 * BLOCK_SIZE + number,
      id: newId('team'),
      organization_id: id,
      name: `deep-${String(number).padStart(4, '0')}`,
      visibility: number % 2 === 0 ? ('organization' as const) : ('secret' as const),
      organization_access: 0,
      allow_member_token_management: 1 as const,
      created_at: at,
      updated_at: at,
    }))
    await server.app.deps.database.write((tx) =>
      inSlices(teams, async (some) => {
        await tx.db.insertInto('teams').values(some).execute()
        return []
      }),
    )
    const open = teams.filter(({ visibility }) => visibility === 'organization').map((team) => team.name)
    const { json } = await member.client.get(
      `/organizations/${name}/teams?q=deep&page[size]=100&page[number]=11`,
    )
    expect(json.meta.pagination['total-count']).toBe(open.length)
    expect(json.data.map((team: never) => team['attributes']['name'])).toEqual(open.slice(1_000))
  })

  test('indexes the blocks of each organization after a search', async () => {
    const addIndex = vi.spyOn(TeamNameBlock.prototype, 'addIndex')
    for (const from of [60_000, 61_000]) {
      const { id, name, owner } = await createTestOrganization(server)
      await makeFarTeams({ id, from, count: 20 })
      addIndex.mockClear()
      // A search that comes while the blocks of another organization are indexed leaves its own to a later search.
      const search = () => owner.client.get(`/organizations/${name}/teams?q=far`)
      await vi.waitUntil(async () => (await search()) && addIndex.mock.calls.length >= 20, {
        timeout: 60_000,
      })
      expect(new Set(addIndex.mock.contexts).size).toBe(addIndex.mock.calls.length)
    }
  })

  test('answers in two organizations whose blocks do not fit into memory together', async () => {
    const organizations = await Promise.all([createTestOrganization(server), createTestOrganization(server)])
    for (const [at, { id }] of organizations.entries()) {
      await makeFarTeams({ id, from: 70_000 + at * 1_000, count: 520 })
    }
    const answers = await Promise.all(
      organizations.map(({ name, owner }) => owner.client.get(`/organizations/${name}/teams?q=far`)),
    )
    for (const { json } of answers) expect(json.meta.pagination['total-count']).toBe(520)
  })
})

afterEach(() => vi.restoreAllMocks())
