// A write reads, and then waits for a row that another transaction has changed. It must judge what the row says afterwards.
import { expect, test } from 'vitest'
import { Browser, passwordLink } from './support/browser.ts'
import { onPostgres } from './support/on-each-engine.ts'
import { askForCode } from './support/sign-ins.ts'
import { base64, createState, lock, md5Of, postState, stateText } from './support/states.ts'
import { body, createTestOrganization, createUser, made, type Person } from './support/world.ts'

onPostgres('a write that waits for a row', (server, query) => {
  /** Makes a change that is committed once the request waits for it. */
  async function whileChanging<T>(change: string, values: unknown[], request: () => Promise<T>): Promise<T> {
    await query('begin')
    await query(change, values)
    const answer = request()
    const isWaiting = async () => {
      const { rows } = await query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      return rows.length > 0
    }
    await expect.poll(isWaiting, { timeout: 30_000, interval: 20 }).toBe(true)
    await query('commit')
    return answer
  }

  test('restores no content that the sweep has just deleted for good', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { workspaceId, stateVersionId } = await createState(organization, '{}')
    await lock(client, workspaceId)
    const next = stateText('{}', 2)
    made(await postState(client, workspaceId, next, { state: base64(next) }), 201)
    const act = (name: string) =>
      client.post(`/state-versions/${stateVersionId}/actions/${name}_backing_data`)
    made(await act('soft_delete'), 200)
    const answer = await whileChanging(
      `update state_versions set status = 'backing_data_permanently_deleted' where id = $1`,
      [stateVersionId],
      () => act('restore'),
    )
    expect([answer.status, answer.json.errors[0].detail]).toEqual([
      400,
      expect.stringMatching(/backing_data_permanently_deleted$/),
    ])
  })

  const suspend = (by: Person, whom: Person) => by.client.post(`/admin/users/${whom.id}/actions/suspend`)

  test('does nothing for an administrator who was suspended meanwhile', async () => {
    const [one, other, third] = [await createUser(server), await createUser(server), await createUser(server)]
    for (const { id } of [one, other, third]) {
      made(await server.admin.post(`/admin/users/${id}/actions/grant_admin`), 200)
    }
    const change = 'update users set is_suspended = 1 where id = $1'
    const answer = await whileChanging(change, [one.id], () => suspend(one, other))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await suspend(one, other)).status).toBe(401)
    expect((await other.client.get('/account/details')).status).toBe(200)
  })

  test('is 503 if the state version that it completes was discarded meanwhile', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { workspaceId } = await createState(organization, '{}')
    await lock(client, workspaceId)
    const next = stateText('{}', 2)
    const create = (content: object) => postState(client, workspaceId, next, { md5: md5Of(next), ...content })
    const { id } = made(await create({}), 201).json.data
    const answer = await whileChanging(
      `with discarded as (update state_versions set status = 'discarded' where id = $1)
       update organizations set email = email where id = $2`,
      [id, organization.id],
      () => create({ state: base64(next) }),
    )
    expect(answer.status).toBe(503)
    made(await create({ state: base64(next) }), 201)
  })

  test('is 503 if the session that it needs has ended meanwhile', async () => {
    const { id } = await createUser(server)
    const browser = new Browser(server.address)
    const link = await passwordLink(server.admin, id)
    expect((await browser.signIn({ link, password: 'correct horse battery' })).status).toBe(201)
    const consent = () => askForCode(browser)
    const end = 'delete from sessions'
    expect((await whileChanging(end, [], consent)).status).toBe(503)
    expect((await consent()).status).toBe(401)
  })

  /** Ends what the caller authenticates with, and changes the user whose row the request waits for. */
  const end = (table: 'authentication_tokens' | 'sessions') =>
    `with ended as (delete from ${table} where user_id = $2) update users set email = email where id = $1`
  const tokensOf = async ({ id }: Person) =>
    (await query('select id from authentication_tokens where user_id = $1', [id])).rows.length
  const tokens = ({ id }: Person) => `/users/${id}/authentication-tokens`

  test('makes no token with a token that has ended meanwhile', async () => {
    const user = await createUser(server)
    const own = () => user.client.post(tokens(user))
    const ended = end('authentication_tokens')
    expect((await whileChanging(ended, [user.id, user.id], own)).status).toBe(401)
    expect(await tokensOf(user)).toBe(0)
  })

  test('makes neither a token nor a link for others with a token that has ended meanwhile', async () => {
    const other = await createUser(server)
    for (const path of [tokens(other), `/admin/users/${other.id}/password-links`]) {
      const maker = await createUser(server)
      made(await server.admin.post(`/admin/users/${maker.id}/actions/grant_admin`), 200)
      const ended = end('authentication_tokens')
      const answer = await whileChanging(ended, [other.id, maker.id], () => maker.client.post(path))
      expect(answer.status).toBe(401)
    }
    expect(await tokensOf(other)).toBe(1)
    expect((await query('select from password_links where user_id = $1', [other.id])).rows).toEqual([])
  })

  test('does nothing that needs a password in a session that has ended meanwhile', async () => {
    const user = await createUser(server)
    const password = 'correct horse battery'
    const changed = {
      current_password: password,
      password: 'another horse',
      password_confirmation: 'another horse',
    }
    for (const [method, path, sent] of [
      ['POST', tokens(user), undefined],
      ['POST', '/account/password-checks', body('password-checks', { password })],
      ['PATCH', '/account/password', body('users', changed)],
    ] as const) {
      const browser = new Browser(server.address)
      const link = await passwordLink(server.admin, user.id)
      made(await browser.signIn({ link, password, 'keep-tokens': true }), 201)
      const ended = () => browser.request(method, path, sent)
      expect((await whileChanging(end('sessions'), [user.id, user.id], ended)).status, path).toBe(401)
    }
    expect(await tokensOf(user)).toBe(1)
  })

  test('changes no password of a user who was suspended meanwhile', async () => {
    const user = await createUser(server)
    const [password, next] = ['correct horse battery', 'another horse battery']
    const link = await passwordLink(server.admin, user.id)
    made(await new Browser(server.address).signIn({ link, password, 'keep-tokens': true }), 201)
    const changed = { current_password: password, password: next, password_confirmation: next }
    const change = () => user.client.patch('/account/password', body('users', changed))
    const suspended = 'update users set is_suspended = 1 where id = $1'
    expect((await whileChanging(suspended, [user.id], change)).status).toBe(401)
    await query('update users set is_suspended = 0 where id = $1', [user.id])
    made(await change(), 200)
  })

  test('ends the tokens that are being made', async () => {
    const user = await createUser(server)
    const change = `with locked as (update users set email = email where id = $1)
      insert into authentication_tokens select (jsonb_populate_record(token, '{"id": "at-new", "hash": "new"}')).*
      from authentication_tokens token where user_id = $1`
    made(await whileChanging(change, [user.id], () => server.admin.delete(tokens(user))), 204)
    expect(await tokensOf(user)).toBe(0)
  })
})
