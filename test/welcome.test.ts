import { expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { welcome } from '../src/operation/welcome.ts'
import { SECRET_KEY } from './support/purser.ts'

const config = { ...readConfig({ data: '/srv/purser' }, {}), secretKey: Buffer.from(SECRET_KEY, 'hex') }
const shownAt = (first: { token: string; link?: string }, settings: object = {}) =>
  welcome(
    { database: undefined as never, config: { ...config, ...settings }, connections: 100, first },
    4567,
  ).join('\n')

test('a first start on a terminal, for which it has made a link, shows the link and the token', () => {
  const shown = shownAt({ token: 'the-token', link: 'the-secret' })
  expect(shown).toContain('token the-token (shown this once, and kept in /srv/purser/admin-token)')
  expect(shown).toContain('http://127.0.0.1:4567/app/~/welcome#the-secret (sets')
})

test('a first start elsewhere shows no secret, and says where it is', () => {
  const shown = shownAt({ token: 'the-token' })
  expect(shown).not.toContain('the-token')
  expect(shown).toContain('/srv/purser/admin-token')
  expect(shown).toContain('user password-link admin --data /srv/purser prints a link')
  expect(shownAt({ token: 'the-token' }, { adminToken: 'the-token' })).not.toContain('the-token')
})
