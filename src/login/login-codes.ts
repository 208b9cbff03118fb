import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { oneOf } from '../jsonapi/body.ts'
import { resourceType, timeSchema } from '../jsonapi/description.ts'

/** What the CLIs are told. They listen on a port from the first one up to the last one, without it. */
export const loginService = {
  client: 'terraform-cli',
  grant_types: ['authz_code'],
  authz: '/app/~/login',
  token: '/login/token',
  ports: [10_000, 10_010],
} as const

/** How long a code can be exchanged. */
export const CODE_MS = 60_000

/**
 * The parameters with which a CLI opens the page, as the page repeats them. The code goes only to a program on the
 * person's own machine, on one of the ports.
 */
export const loginCodeBody = {
  type: 'login-codes',
  attributes: {
    'client-id': oneOf(loginService.client),
    'response-type': oneOf('code'),
    'redirect-uri': Type.String({
      pattern: '^http://localhost:100(?:0[0-9]|10)/login$',
      explain: `must be http://localhost:PORT/login with a port from ${loginService.ports.join(' to ')}`,
    }),
    'code-challenge': Type.String({
      pattern: '^[A-Za-z0-9_-]{43}$',
      explain: 'must be the SHA-256 hash of the verifier in base64url',
    }),
    'code-challenge-method': oneOf('S256'),
    state: Type.String({
      minLength: 1,
      maxLength: 512,
      pattern: '^[\\x21-\\x7e]*$',
      explain: 'must be 1 to 512 visible ASCII characters',
    }),
  },
  required: [
    'client-id',
    'response-type',
    'redirect-uri',
    'code-challenge',
    'code-challenge-method',
    'state',
  ] as const,
}

/** The challenge that a verifier answers. */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

type NewLoginCode = { userId: string; code: string; redirectUri: string; state: string; expiresAt: string }

/** Only the answer that makes a code shows it. */
export const loginCodeResource = resourceType<NewLoginCode>({
  type: 'login-codes',
  id: ({ userId }) => userId,
  attributes: {
    'redirect-to': [
      Type.String(),
      ({ code, redirectUri, state }) => {
        const query = new URLSearchParams({ code, state })
        return `${redirectUri}?${query.toString()}`
      },
    ],
    'expired-at': [timeSchema, ({ expiresAt }) => expiresAt],
  },
})
