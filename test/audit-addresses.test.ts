import { describe, expect, test } from 'vitest'
import { canonicalAddress } from '../src/core/ip-address.ts'
import { Browser, passwordLink } from './support/browser.ts'
import { Client, type Json } from './support/client.ts'
import { engines } from './support/engines.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { ADMIN_TOKEN, Purser, run, settingsFor } from './support/purser.ts'
import { unpackReleaseBefore } from './support/release-before.ts'
import { output } from './support/seeded.ts'
import { createState, lock, postState, stateText } from './support/states.ts'
import { body, createTeam, createTestOrganization, createUser, invitePerson, made } from './support/world.ts'

const SENSITIVE = '{"a":{"value":"s","type":"string","sensitive":true}}'

onEachEngine('the address of a client behind a trusted proxy', { trustProxy: 'true' }, (server) => {
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const eventsOf = async (name: string, query = ''): Promise<Json[]> => {
    const { status, text, json } = await server.admin.get(`/organizations/${name}/audit-events${query}`)
    expect(status, text).toBe(200)
    return json.data.map(({ attributes }: Json) => attributes)
  }

  test('is in the events of writes, reveals and uploads, and they are found by it', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { workspaceId, stateVersionId } = await createState(organization, SENSITIVE)
    const [{ id }] = (await client.get(`/state-versions/${stateVersionId}/outputs`)).json.data
    await client.get(`/state-version-outputs/${id}`, from('198.51.100.1, 203.0.113.7'))
    await client.request(
      'PATCH',
      `/workspaces/${workspaceId}`,
      body('workspaces', { description: 'x' }),
      from('203.0.113.8:4711'),
    )
    await lock(client, workspaceId)
    const state = stateText('{}', 2)
    const version = made(await postState(client, workspaceId, state), 201).json.data
    const url = version.attributes['hosted-state-upload-url']
    expect((await client.request('PUT', url, state, from('[2001:DB8:0::1]:443'))).status).toBe(200)
    const events = await eventsOf(organization.name)
    const addressOf = (action: string) => events.find((event) => event.action === action).address
    expect(addressOf('output.reveal')).toBe('203.0.113.7')
    expect(addressOf('workspace.update')).toBe('203.0.113.8')
    expect(addressOf('state-version.finalize')).toBe('2001:db8::1')
    // Without the header it is that of the connection.
    expect(addressOf('workspace.lock')).toBe('127.0.0.1')
    for (const { details } of events) expect(JSON.stringify(details)).not.toContain('client-address')

    const found = async (address: string) =>
      (await eventsOf(organization.name, `?filter[address]=${encodeURIComponent(address)}`)).map(
        ({ action }) => action,
      )
    expect(await found('203.0.113.7')).toEqual(['output.reveal'])
    expect(await found('::ffff:203.0.113.8')).toEqual(['workspace.update'])
    expect(await found('2001:db8:0:0:0:0:0:1')).toEqual(['state-version.finalize'])
    expect(await found('203.0.113.70')).toEqual([])
    expect((await found('127.0.0.1')).length).toBe(events.length - 3)
    for (const wrong of ['203.0.113', '203.0.113.7/32', 'somewhere']) {
      const path = `/organizations/${organization.name}/audit-events?filter[address]=${wrong}`
      const refused = await server.admin.get(path)
      expect([refused.status, refused.json.errors[0].source.parameter]).toEqual([400, 'filter[address]'])
    }
  })

  test('is in the event and the list of sign-ins', async () => {
    const user = await createUser(server)
    const browser = new Browser(server.address)
    const headers = { 'x-purser-page': '1', ...from('203.0.113.9'), 'x-forwarded-proto': 'https' }
    const link = await passwordLink(server.admin, user.id)
    const password = 'correct horse battery'
    const answer = await browser.request('POST', '/sessions', body('sessions', { link, password }), headers)
    expect(answer.status, answer.text).toBe(201)
    expect(answer.json.data.attributes.address).toBe('203.0.113.9')
    const { json } = await server.admin.get(`/users/${user.id}/sessions`)
    expect(json.data.map(({ attributes }: Json) => attributes.address)).toEqual(['203.0.113.9'])
    const stored = await server.app.deps.database.read((tx) =>
      tx.db
        .selectFrom('audit_events')
        .where('action', '=', 'session.begin')
        .where('actor_id', '=', user.id)
        .select('details')
        .execute(),
    )
    expect(stored.map(({ details }) => JSON.parse(details)['client-address'])).toEqual(['203.0.113.9'])
  })

  test('cannot be forged by what a client writes', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const forged = 'x","client-address":"192.0.2.66"}'
    const team = await createTeam(organization)
    for (const name of ['192.0.2.66"}', '192.0.2.66","x":"', '1.2.3', '', 'fe80::1%eth0"}']) {
      const sent = body('teams', { 'sso-team-id': forged })
      const answer = await client.request('PATCH', `/teams/${team}`, sent, from(name))
      expect(answer.status, answer.text).toBe(200)
      await client.patch(`/teams/${team}`, body('teams', { 'sso-team-id': null }))
    }
    for (const { address } of await eventsOf(organization.name)) expect(address).toBe('127.0.0.1')
  })

  test('is not told of somebody whom the organization may not know', async () => {
    const organization = await createTestOrganization(server)
    const user = await createUser(server)
    const invitation = await invitePerson(organization, { email: `${user.username}@example.com` })
    const [{ id }] = (await user.client.get('/organization-memberships')).json.data
    expect(id).toBe(invitation)
    await user.client.request('DELETE', `/organization-memberships/${id}`, undefined, from('203.0.113.10'))
    const [event] = await eventsOf(organization.name)
    expect(event).toMatchObject({ action: 'membership.delete', address: null })
  })

  test('is there beside details that are too long for a list', async () => {
    const organization = await createTestOrganization(server)
    const names = Array.from({ length: 100 }, (_, number) => `${number}-${'x'.repeat(200)}`)
    const outputs = names.map((name) => [name, { value: 's', type: 'string', sensitive: true }])
    const { stateVersionId } = await createState(organization, JSON.stringify(Object.fromEntries(outputs)))
    const path = `/state-versions/${stateVersionId}/outputs?page[size]=100`
    await organization.owner.client.get(path, from('203.0.113.11'))
    const [event] = await eventsOf(organization.name, '?filter[address]=203.0.113.11')
    expect(event).toMatchObject({ action: 'output.reveal', address: '203.0.113.11', details: null })
  })
})

onEachEngine('the address of a client without a proxy', (server) => {
  test('is that of the connection, whatever is said to be forwarded', async () => {
    const organization = await createTestOrganization(server)
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    const path = `/organizations/${organization.name}`
    await server.admin.request('PATCH', path, body('organizations', { email: 'a@example.com' }), headers)
    const { json } = await server.admin.get(`${path}/audit-events`)
    expect(json.data[0].attributes.address).toBe('127.0.0.1')
  })
})

describe.each(engines)('the release before on %s', (engine) => {
  test('verifies events with an address, and what it writes has none', async () => {
    const settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    const main = unpackReleaseBefore()
    const createdBy = async (name: string, program?: string) => {
      const server = new Purser(['serve'], settings, { main: program })
      const client = new Client(await server.address(), ADMIN_TOKEN)
      const attributes = { name, email: 'a@example.com' }
      made(await client.post('/organizations', body('organizations', attributes)), 201)
      await server.stop()
    }
    await createdBy('before', main)
    await createdBy('new')
    await createdBy('again', main)
    for (const program of [undefined, main]) {
      const verdict = JSON.parse(await output(['audit', 'verify', '--json'], settings, program))
      expect(verdict).toMatchObject({ intact: true })
    }
    const lines = (await output(['audit', '--json', '--action', 'organization.create'], settings)).trim()
    const addresses = lines.split('\n').map((line) => JSON.parse(line).address)
    expect(addresses).toEqual([null, '127.0.0.1', null])
  })
})

test.each(engines)('on %s, purser audit finds events by actor, output and address', async (engine) => {
  const settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
  const server = new Purser(['serve'], settings)
  const address = await server.address()
  const client = (token?: string) => new Client(address, token)
  const organization = await createTestOrganization({ admin: client(ADMIN_TOKEN), client })
  const { stateVersionId } = await createState(organization, SENSITIVE)
  await organization.owner.client.get(`/state-versions/${stateVersionId}/outputs`)
  await output(['organization', 'list'], settings)
  const found = async (...filter: string[]) => {
    const text = await output(['audit', '--json', ...filter], settings)
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).action as string]))
  }
  expect(await found('--output', 'a')).toEqual(['output.reveal'])
  expect(await found('--output', 'b')).toEqual([])
  const { id, username } = organization.owner
  expect(await found('--actor', id)).toContain('output.reveal')
  expect(await found('--actor', username)).toEqual(await found('--actor', id))
  expect(await found('--actor', 'admin')).not.toContain('output.reveal')
  expect(await found('--address', '::ffff:127.0.0.1')).toContain('output.reveal')
  expect(await found('--address', '::ffff:127.0.0.1')).not.toContain('organization.found')
  expect(await found('--address', '192.0.2.1')).toEqual([])
  // Without --json the address has a column.
  expect(await output(['audit', '--output', 'a'], settings)).toMatch(/ 127\.0\.0\.1 +output\.reveal /)
  expect((await run(['audit', '--address', 'here'], settings)).stderr).toContain('must be an address')
})

test('an address has one spelling', () => {
  const spellings = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::FFFF:c000:201': '192.0.2.1',
    '2001:DB8::0:1': '2001:db8::1',
    'fe80::1%eth0': 'fe80::1',
    '::': '::',
  }
  for (const [given, canonical] of Object.entries(spellings)) expect(canonicalAddress(given)).toBe(canonical)
  for (const none of ['', 'a', '192.0.2.256', '192.0.2.1:80', '[::1]', '1::2::3', ' ::1']) {
    expect(canonicalAddress(none), none).toBeUndefined()
  }
})
