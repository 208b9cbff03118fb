// A thief has the session cookie of a victim, and no password. The victim and an administrator try to get rid of them.
import { createUser } from '../test/support/world.ts'
import { Visitor, type Attack } from './stage.ts'

const PASSWORD = 'the password of the victim'
const MINUTE_MS = 60_000

export const attack: Attack = async (server, show) => {
  const { admin, clock } = server
  const { id } = await createUser(server, 'victim')
  const linkFor = async () =>
    (await admin.post(`/admin/users/${id}/password-links`)).json.data.attributes.link as string
  const victim = new Visitor(server)
  await victim.signIn({ link: await linkFor(), password: PASSWORD })
  const thief = new Visitor(server)
  const steal = () => (thief.cookie = victim.cookie)
  const tokens = `/users/${id}/authentication-tokens`
  const make = () => thief.request('POST', tokens, 'authentication-tokens', { description: 'of the thief' })
  const statusWith = async (token: string) => (await server.client(token).get('/account/details')).status

  steal()
  clock.advance(11 * MINUTE_MS)
  show('a token without the password, 11 minutes after the sign-in', 201, (await make()).status)
  const consent = await thief.request('POST', '/account/login-codes', 'login-codes', {
    'client-id': 'terraform-cli',
    'response-type': 'code',
    'redirect-uri': 'http://localhost:10000/login',
    'code-challenge': 'x'.repeat(43),
    'code-challenge-method': 'S256',
    state: 'a-state',
  })
  show('a login code without the password', 201, consent.status)

  // The thief is quick: the victim has just signed in.
  await victim.signIn({
    login: (await victim.request('GET', '/account/details')).json.data.attributes.username,
    password: PASSWORD,
  })
  steal()
  const token: string = (await make()).json.data.attributes.token
  await victim.request('PATCH', '/account/password', 'users', {
    current_password: PASSWORD,
    password: 'another password of the victim',
    password_confirmation: 'another password of the victim',
    'end-tokens': true,
  })
  show(
    'the token after the victim has changed the password, and ended all tokens',
    200,
    await statusWith(token),
  )

  steal()
  const second: string = (await make()).json.data.attributes.token
  await victim.signIn({ link: await linkFor(), password: 'a third password of the victim' })
  show('a token after the victim has reset the password with a link', 200, await statusWith(second))

  steal()
  const third: string = (await make()).json.data.attributes.token
  await admin.delete(tokens)
  show('a token after an administrator has ended all tokens of the victim', 200, await statusWith(third))

  await admin.post(`/admin/users/${id}/actions/suspend`)
  await admin.post(`/admin/users/${id}/actions/unsuspend`)
  const account = await thief.request('GET', '/account/details')
  show('the stolen session after a suspension and its end', 200, account.status)
}
