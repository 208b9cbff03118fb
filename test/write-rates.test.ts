import { expect, test } from 'vitest'
import { WriteRates } from '../src/http/write-rates.ts'
import { TooManyAttempts } from '../src/core/errors.ts'
import { NOT_FOUND } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createUser,
  uniqueName,
} from './support/world.ts'

onEachEngine('writes of one account', { maxWritesPerMinute: '20' }, (server) => {
  test('are 429 beyond the limit, reads are not, and others go on', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const path = `/organizations/${name}/teams`
    const create = () => owner.client.post(path, body('teams', { name: uniqueName('team') }))
    const answers = []
    for (let made = 0; made < 24; made++) answers.push(await create())
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(19)
    const [first] = refused
    expect(first?.json.errors).toEqual([
      {
        status: '429',
        title: 'too many requests',
        detail:
          'an account may write 20 times a minute (PURSER_MAX_WRITES_PER_MINUTE); try again after some seconds',
      },
    ])
    expect(first?.headers.get('retry-after')).toMatch(/^[1-3]$/)
    expect((await owner.client.get(path)).status).toBe(200)
    // Not permitted stays 404.
    expect((await owner.client.post('/admin/users', body('users', {}))).text).toBe(NOT_FOUND)
    const other = await createUser(server)
    const elsewhere = body('organizations', { name: uniqueName('other'), email: 'a@example.com' })
    expect((await other.client.post('/organizations', elsewhere)).status).toBe(201)
  })

  test('made by several tokens count together, those of teams for their organization', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const member = await addMember(server, organization)
    const team = await createTeam(organization, { 'organization-access': { 'manage-workspaces': true } })
    const path = `/organizations/${organization.name}/workspaces`
    const token = await owner.client.post(`/teams/${team}/authentication-tokens`, {
      data: { type: 'authentication-tokens', attributes: { description: 'one' } },
    })
    const another = await owner.client.post(`/teams/${team}/authentication-tokens`, {
      data: { type: 'authentication-tokens', attributes: { description: 'two' } },
    })
    const clients = [token, another].map(({ json }) => server.client(json.data.attributes.token))
    const statuses: number[] = []
    for (let made = 0; made < 24; made++) {
      const client = clients[made % 2] as (typeof clients)[0]
      statuses.push((await client.post(path, body('workspaces', { name: uniqueName('w') }))).status)
    }
    expect(statuses).toContain(429)
    expect(statuses.slice(0, 19)).not.toContain(429)
    expect((await member.client.get(path)).status).not.toBe(429)
  })
})

test('a bucket fills all the time, up to the writes of a minute, and the oldest of very many is forgotten', () => {
  const rates = new WriteRates({ maxWritesPerMinute: 60 }, true)
  for (let count = 0; count < 60; count++) rates.count('a', 0)
  expect(() => rates.count('a', 0)).toThrow(TooManyAttempts)
  rates.count('b', 0)
  expect(() => rates.count('a', 999)).toThrow(TooManyAttempts)
  rates.count('a', 1_000)
  expect(() => rates.count('a', 1_000)).toThrow(TooManyAttempts)
  for (let count = 0; count < 60; count++) rates.count('a', 600_000)
  expect(() => rates.count('a', 600_000)).toThrow(TooManyAttempts)
  for (let other = 0; other < 10_000; other++) rates.count(`other ${other}`, 600_000)
  rates.count('a', 600_000)
})

test('a command is not limited', () => {
  const rates = new WriteRates({ maxWritesPerMinute: 1 }, false)
  for (let count = 0; count < 10; count++) rates.count('a', 0)
})
