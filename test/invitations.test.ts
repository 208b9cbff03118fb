import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client, Response } from './support/client.ts'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import {
  body,
  createTeam,
  createTestOrganization,
  invitePerson,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

const dialects = ['documented', 'current'] as const

describe.each(engines)('whom an invitation names, on %s', (engine) => {
  describe.each(dialects)('dialect %s', (dialect) => {
    let server: TestServer
    beforeAll(async () => {
      server = await startServer(engine, { dialect })
    })
    afterAll(() => server.stop())

    /** Creates a user whose email has upper and lower case letters. */
    async function somebody() {
      const username = uniqueName('Rosa')
      const email = `${uniqueName('Mail')}@Example.com`
      const made = await server.admin.post('/admin/users', body('users', { username, email }))
      const { id } = made.json.data
      const token = await server.admin.post(`/users/${id}/authentication-tokens`)
      const asInvited = email.toLowerCase()
      return { id, username, asInvited, client: server.client(token.json.data.attributes.token) }
    }

    const pathOf = ({ name }: TestOrganization) => `/organizations/${name}/organization-memberships`
    const refusalsOf = async ({ name, owner }: TestOrganization) => {
      await server.app.deps.refusals.flush()
      return owner.client.get(`/organizations/${name}/refusals`)
    }

    /** All answers to an owner about an invitation and about the team that it is for. */
    async function answersAbout(organization: TestOrganization, email: string, q: string) {
      const { client } = organization.owner
      const team = await createTeam(organization, { visibility: 'organization' })
      const teams = { data: [{ type: 'teams', id: team }] }
      const made = await client.post(
        pathOf(organization),
        body('organization-memberships', { email }, { teams }),
      )
      expect(made.status).toBe(201)
      const { id } = made.json.data
      const data = { data: [{ type: 'organization-memberships', id }] }
      const answers: Response[] = [
        made,
        await client.get(`/organization-memberships/${id}?include=user,teams`),
        await client.get(`${pathOf(organization)}?include=user&filter[status]=invited`),
        await client.get(`${pathOf(organization)}?include=user&filter[email]=${email}`),
        await client.get(`${pathOf(organization)}?include=user&q=${email.slice(3)}`),
        await client.get(`${pathOf(organization)}?include=user&q=${q}`),
        await client.get(`/teams/${team}?include=users,organization-memberships`),
        await client.get(`/teams/${team}/relationships/organization-memberships`),
        await client.delete(`/teams/${team}/relationships/organization-memberships`, data),
        await client.post(`/teams/${team}/relationships/organization-memberships`, data),
      ]
      return { id: id as string, team, answers }
    }

    test('nobody, before they accept: an account is as good as none', async () => {
      const organization = await createTestOrganization(server)
      const { client } = organization.owner
      const rosa = await somebody()
      const stranger = uniqueName('stranger')
      const seen: string[] = []
      const wholeOf = async (email: string, q: string) => {
        const { id, team, answers } = await answersAbout(organization, email, q)
        expect((await client.delete(`/organization-memberships/${id}`)).status).toBe(204)
        answers.push(
          await client.get(`/organizations/${organization.name}/audit-events?filter[resource-id]=${id}`),
        )
        answers.push(
          await client.get(`/organizations/${organization.name}/audit-events?filter[resource-id]=${team}`),
        )
        const text = answers.map((answer) => answer.text).join('\n')
        seen.push(text)
        const emails = [email, email.slice(3)].flatMap((part) => [part, encodeURIComponent(part)])
        const own = [id, team, id.replace('ou-', 'user-'), ...emails, q]
        const told = own.reduce((all, part, place) => all.replaceAll(part, `<${place}>`), text)
        return told.replaceAll(/team-\d+-\d+|\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f-]{20,64}|"position":\d+/g, '#')
      }
      const known = await wholeOf(rosa.asInvited, rosa.username)
      const unknown = await wholeOf(`${uniqueName('mail')}@example.com`, stranger)
      expect(known).toBe(unknown)
      expect(seen[0]).not.toContain(rosa.id)
      // Only links may contain the search text.
      expect(seen[0]).not.toContain(`"${rosa.username}`)
      expect(seen[0]).toContain(rosa.asInvited)
    })

    test('a search finds the email as it was invited, not as an account spells it', async () => {
      const organization = await createTestOrganization(server)
      const { client } = organization.owner
      /** How many invitations are found by the email as invited, with a Kelvin sign, and by that of the account. */
      const found = async (name: string, hasAccount: boolean) => {
        const email = `k${name}@example.com`
        const invited = `\u212a${name}@example.com`
        if (hasAccount) {
          const user = body('users', { username: name, email })
          expect((await server.admin.post('/admin/users', user)).status).toBe(201)
        }
        const invitation = body('organization-memberships', { email: invited })
        const { status, json } = await client.post(pathOf(organization), invitation)
        expect([status, json.data.attributes.email]).toEqual([201, invited])
        const counts: number[] = []
        for (const filter of ['q', 'filter[email]']) {
          for (const sought of [invited, email]) {
            const query = `${filter}=${encodeURIComponent(sought)}`
            counts.push((await client.get(`${pathOf(organization)}?${query}`)).json.data.length)
          }
        }
        return counts
      }
      expect(await found(uniqueName('elvin'), true)).toEqual([1, 0, 1, 1])
      expect(await found(uniqueName('elvin'), false)).toEqual([1, 0, 1, 1])
    })

    test('nobody elsewhere either: not in effective access, refusals or the trail of who declined', async () => {
      const organization = await createTestOrganization(server)
      const { name, owner } = organization
      const rosa = await somebody()
      const id = await invitePerson(organization, { email: rosa.asInvited })
      const said: string[] = []
      for (const user of [rosa.id, rosa.username, id.replace('ou-', 'user-')]) {
        const access = await owner.client.get(`/organizations/${name}/effective-access?user=${user}`)
        expect(access.status).toBe(404)
        expect((await owner.client.get(`/users/${user}`)).status).toBe(404)
      }
      expect((await rosa.client.get(`/organizations/${name}/teams`)).status).toBe(404)
      const refusals = await refusalsOf(organization)
      const theirs = refusals.json.data.filter(({ attributes }: { attributes: { path: string } }) =>
        attributes.path.endsWith('/teams'),
      )
      expect(theirs[0].attributes.caller).toBeNull()
      said.push(JSON.stringify(theirs))
      expect((await rosa.client.delete(`/organization-memberships/${id}`)).status).toBe(204)
      const trail = `/organizations/${name}/audit-events`
      const declined = await owner.client.get(
        `${trail}?filter[resource-id]=${id}&filter[action]=membership.delete`,
      )
      expect(
        declined.json.data.map(({ attributes }: { attributes: { actor: object } }) => attributes.actor),
      ).toEqual([{ kind: 'user', id: id.replace('ou-', 'user-'), name: null, 'token-id': null }])
      said.push(declined.text)
      for (const actor of [rosa.id, rosa.username]) {
        expect((await owner.client.get(`${trail}?filter[actor]=${actor}`)).json.data).toEqual([])
      }
      for (const text of said) {
        expect(text).not.toContain(rosa.id)
        expect(text).not.toContain(rosa.username)
      }
    })

    test('oneself and site administrators always, everybody once it is accepted', async () => {
      const organization = await createTestOrganization(server)
      const rosa = await somebody()
      const id = await invitePerson(organization, { email: rosa.asInvited })
      const named = async (client: Client) => {
        const { data, included } = (await client.get(`/organization-memberships/${id}?include=user`)).json
        expect(included[0].id).toBe(data.relationships.user.data.id)
        return [included[0].id, included[0].attributes.username]
      }
      const placeholder = [id.replace('ou-', 'user-'), null]
      expect(await named(organization.owner.client)).toEqual(placeholder)
      expect(await named(rosa.client)).toEqual([rosa.id, rosa.username])
      expect(await named(server.admin)).toEqual([rosa.id, rosa.username])
      expect((await rosa.client.post(`/organization-memberships/${id}/actions/accept`)).status).toBe(200)
      expect(await named(organization.owner.client)).toEqual([rosa.id, rosa.username])
      const found = await organization.owner.client.get(`${pathOf(organization)}?q=${rosa.username}`)
      expect(found.json.data.map((one: { id: string }) => one.id)).toEqual([id])
    })
  })
})
