import { expect, test } from 'vitest'
import { MOST_LEFT_TOKENS } from '../src/authentication-tokens/handed-out.ts'
import { newId } from '../src/core/ids.ts'
import { auditDetailsOf } from './support/audit-details.ts'
import { Browser, passwordLink } from './support/browser.ts'
import type { Client, Resource } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { startNode } from './support/server.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createUser,
  made,
  type Person,
} from './support/world.ts'

const PASSWORD = 'correct horse battery'

onEachEngine('what somebody handed out', (server) => {
  const act = (who: Person, action: string, query = '') =>
    server.admin.post(`/admin/users/${who.id}/actions/${action}${query}`)
  /** A site administrator whose token the command line made, so nobody else has seen it. */
  const administrator = async (): Promise<Person> => {
    const person = await createUser(server)
    made(await act(person, 'grant_admin'), 200)
    const own = await person.client.post(`/users/${person.id}/authentication-tokens`)
    await server.app.deps.database.write(async (tx) => {
      await tx.db
        .updateTable('authentication_tokens')
        .set({ created_by_id: person.id })
        .where('id', '=', own.json.data.id)
        .execute()
      await tx.db.deleteFrom('token_origins').where('token_id', '=', own.json.data.id).execute()
    })
    return { ...person, client: server.client(own.json.data.attributes.token) }
  }
  const tokenFor = async (client: Client, userId: string): Promise<Client> => {
    const token = made(await client.post(`/users/${userId}/authentication-tokens`), 201)
    return server.client(token.json.data.attributes.token)
  }
  const works = async (client: Client) => (await client.get('/account/details')).status
  const opens = async (link: string) =>
    (await new Browser(server.address).signIn({ link, password: PASSWORD })).status
  const ends: Record<string, (maker: Person) => Promise<{ status: number }>> = {
    'the end of their administration': (maker) => act(maker, 'revoke_admin'),
    'their suspension': (maker) => act(maker, 'suspend'),
    'their deletion': (maker) => server.admin.delete(`/admin/users/${maker.id}`),
  }

  for (const [how, end] of Object.entries(ends)) {
    test(`ends with ${how}: tokens, what was made with them, and links`, async () => {
      const maker = await administrator()
      const colleague = await administrator()
      const third = await createUser(server)
      const lent = await tokenFor(maker.client, colleague.id)
      const made = [lent, await tokenFor(lent, colleague.id), await tokenFor(lent, third.id)]
      made.push(await tokenFor(made[1] as Client, colleague.id))
      const links = [
        await passwordLink(maker.client, colleague.id),
        await passwordLink(made[1] as Client, third.id),
      ]
      for (const client of made) expect(await works(client)).toBe(200)
      expect((await end(maker)).status).toBeLessThan(300)
      for (const client of made) expect(await works(client)).toBe(401)
      for (const link of links) expect(await opens(link)).toBe(401)
      expect(await works(colleague.client)).toBe(200)
      expect(await works(third.client)).toBe(200)
    })
  }

  test('does not come back with the right to hand it out', async () => {
    const maker = await administrator()
    const colleague = await createUser(server)
    const lent = await tokenFor(maker.client, colleague.id)
    const link = await passwordLink(maker.client, colleague.id)
    for (const [down, up] of [
      ['suspend', 'unsuspend'],
      ['revoke_admin', 'grant_admin'],
    ] as const) {
      made(await act(maker, down), 200)
      made(await act(maker, up), 200)
      expect(await works(lent)).toBe(401)
    }
    expect(await opens(link)).toBe(401)
  })

  test('counts no more although the row is there, because another release has ended the right', async () => {
    const maker = await administrator()
    const colleague = await createUser(server)
    const lent = await tokenFor(maker.client, colleague.id)
    const again = await tokenFor(lent, colleague.id)
    const link = await passwordLink(maker.client, colleague.id)
    const third = await createUser(server)
    const withLent = await passwordLink(await tokenFor(maker.client, (await administrator()).id), third.id)
    await server.app.deps.database.write((tx) =>
      tx.db.updateTable('users').set({ is_site_admin: 0 }).where('id', '=', maker.id).execute(),
    )
    expect(await works(lent)).toBe(401)
    expect(await works(again)).toBe(401)
    expect([await opens(link), await opens(withLent)]).toEqual([401, 401])
    // Nor does it with the right.
    made(await act(maker, 'grant_admin'), 200)
    expect(await works(lent)).toBe(401)
    expect(await opens(link)).toBe(401)
  })

  test('is refused on another node from the next request on', async () => {
    const node = await startNode(server)
    try {
      const maker = await administrator()
      const colleague = await createUser(server)
      const lent = await tokenFor(maker.client, colleague.id)
      const onNode = node.client(lent.token)
      expect(await works(onNode)).toBe(200)
      made(await act(maker, 'suspend'), 200)
      expect(await works(onNode)).toBe(401)
    } finally {
      await node.stop()
    }
  })

  test('stays, if it belongs to who made it or was made at the command line', async () => {
    const maker = await administrator()
    const own = await tokenFor(maker.client, maker.id)
    made(await act(maker, 'revoke_admin'), 200)
    expect(await works(own)).toBe(200)
    const person = await createUser(server)
    await server.app.deps.database.write((tx) =>
      tx.db
        .updateTable('authentication_tokens')
        .set({ created_by_id: null })
        .where('user_id', '=', person.id)
        .execute(),
    )
    expect(await works(person.client)).toBe(200)
  })

  test('is counted in the audit trail', async () => {
    const maker = await administrator()
    const colleague = await createUser(server)
    await tokenFor(maker.client, colleague.id)
    await passwordLink(maker.client, colleague.id)
    made(await act(maker, 'suspend'), 200)
    expect(await auditDetailsOf(server, 'user.suspend', maker.id)).toMatchObject([
      { username: maker.username, 'ended-tokens-of-others': 1, 'ended-links-of-others': 1 },
    ])
  })
})

type Kept = {
  id: string
  kind: string
  organization: string
  team: string | null
  description: string | null
}

onEachEngine('tokens of teams and organizations that somebody who leaves knows', (server) => {
  const world = async () => {
    const organization = await createTestOrganization(server)
    const path = `/organizations/${organization.name}`
    const teams = await organization.owner.client.get(`${path}/teams`)
    const owners = teams.json.data.find((team: Resource) => team.attributes.name === 'owners').id as string
    const leaver = await addMember(server, organization, [owners])
    const ofOwners = made(await leaver.client.post(`/teams/${owners}/authentication-token`), 201).json.data
    const withIt = server.client(ofOwners.attributes.token)
    const teamId = await createTeam(organization, { name: 'pipelines' })
    const further = body('authentication-tokens', { description: 'made with a token' })
    const ofTeam = made(await withIt.post(`/teams/${teamId}/authentication-tokens`, further), 201).json.data
    const ofOrganization = made(await leaver.client.post(`${path}/authentication-token`), 201).json.data
    const others = made(await organization.owner.client.post(`/teams/${teamId}/authentication-token`), 201)
      .json.data
    return { organization, path, leaver, teamId, tokens: [ofOwners, ofTeam, ofOrganization], others }
  }
  const tokensIn = (attributes: { tokens: Kept[] }) => attributes.tokens.map(({ id }) => id).toSorted()
  const idsOf = (tokens: { id: string }[]) => tokens.map(({ id }) => id).toSorted()
  const valid = async (tokens: { attributes: { token: string } }[]) =>
    Promise.all(
      tokens.map(
        async ({ attributes }) => (await server.client(attributes.token).get('/account/details')).status,
      ),
    )

  test('are named in the dry run of a removal, and end with it if it says so', async () => {
    const { organization, leaver, tokens, others } = await world()
    const { client } = organization.owner
    const membership = `/organization-memberships/${leaver.membershipId}`
    const { attributes } = made(await client.delete(`${membership}?dry-run=true`), 200).json.data
    expect(tokensIn(attributes)).toEqual(idsOf(tokens))
    expect(attributes.tokens).toContainEqual({
      id: tokens[1].id,
      kind: 'team',
      organization: organization.name,
      team: 'pipelines',
      description: 'made with a token',
    })
    made(await client.delete(`${membership}?dry-run=true&end-tokens=true`), 200)
    expect(await valid(tokens)).toEqual([200, 200, 200])
    made(await client.delete(`${membership}?end-tokens=true`), 204)
    expect(await valid(tokens)).toEqual([401, 401, 401])
    expect(await valid([others])).toEqual([200])
    const events = (await client.get(`/organizations/${organization.name}/audit-events`)).json.data
    const actions = events.slice(0, 4).map((event: Resource) => event.attributes.action)
    expect(actions.toSorted()).toEqual([
      'membership.delete',
      'organization-token.delete',
      'team-token.delete',
      'team-token.delete',
    ])
  })

  test('stay valid after a removal that does not say so', async () => {
    const { organization, leaver, tokens } = await world()
    made(await organization.owner.client.delete(`/organization-memberships/${leaver.membershipId}`), 204)
    expect(await valid(tokens)).toEqual([200, 200, 200])
  })

  for (const how of ['suspend', 'revoke_admin', 'delete']) {
    test(`end with ${how} of a user in all organizations`, async () => {
      const { leaver, tokens, others } = await world()
      const second = await createTestOrganization(server)
      made(await server.admin.post(`/admin/users/${leaver.id}/actions/grant_admin`), 200)
      tokens.push(
        made(await leaver.client.post(`/organizations/${second.name}/authentication-token`), 201).json.data,
      )
      const path = `/admin/users/${leaver.id}`
      const [method, end] = how === 'delete' ? ['DELETE', path] : ['POST', `${path}/actions/${how}`]
      if (how !== 'revoke_admin') {
        const { attributes } = made(await server.admin.request(method, `${end}?dry-run=true`), 200).json.data
        expect(tokensIn(attributes)).toEqual(idsOf(tokens))
      }
      expect((await server.admin.request(method, `${end}?end-tokens=true`)).status).toBeLessThan(300)
      expect(await valid(tokens)).toEqual([401, 401, 401, 401])
      expect(await valid([others])).toEqual([200])
    })
  }

  test('are neither named to somebody who may not end them, nor ended by them', async () => {
    const { organization, tokens } = await world()
    const managers = await createTeam(organization, { 'organization-access': { 'manage-membership': true } })
    const manager = await addMember(server, organization, [managers])
    const leaver = await addMember(server, organization)
    // As if the leaver had been an owner before.
    await server.app.deps.database.write((tx) =>
      tx.db
        .updateTable('authentication_tokens')
        .set({ created_by_id: leaver.id })
        .where('id', 'in', idsOf(tokens))
        .execute(),
    )
    const membership = `/organization-memberships/${leaver.membershipId}`
    const { attributes } = made(await manager.client.delete(`${membership}?dry-run=true`), 200).json.data
    expect(attributes.tokens).toEqual([])
    made(await manager.client.delete(`${membership}?end-tokens=true`), 204)
    expect(await valid(tokens)).toEqual([200, 200, 200])
  })

  test('end in one step up to a limit, and more are named in part', async () => {
    const { organization, path, leaver, teamId } = await world()
    const client = organization.owner.client
    const one = (await client.get(`/teams/${teamId}/authentication-tokens`)).json.data[0].id as string
    await server.app.deps.database.write(async (tx) => {
      const row = await tx.db
        .selectFrom('authentication_tokens')
        .where('id', '=', one)
        .selectAll()
        .executeTakeFirstOrThrow()
      const rows = Array.from({ length: MOST_LEFT_TOKENS }, () => {
        const id = newId('token')
        return { ...row, id, hash: id, is_single: 0 as const, created_by_id: leaver.id }
      })
      await tx.db.insertInto('authentication_tokens').values(rows).execute()
    })
    const membership = `/organization-memberships/${leaver.membershipId}`
    const { attributes } = made(await client.delete(`${membership}?dry-run=true`), 200).json.data
    expect([attributes.tokens.length, attributes['tokens-truncated']]).toEqual([MOST_LEFT_TOKENS, true])
    const refused = await client.delete(`${membership}?end-tokens=true`)
    expect([refused.status, refused.json.errors[0].detail]).toEqual([
      422,
      `more than 500 tokens would end; end some of them with DELETE ${path}/team-tokens first`,
    ])
  })

  test('another value of end-tokens is 400', async () => {
    const { organization, leaver } = await world()
    const membership = `/organization-memberships/${leaver.membershipId}?end-tokens=yes`
    expect((await organization.owner.client.delete(membership)).status).toBe(400)
  })
})
