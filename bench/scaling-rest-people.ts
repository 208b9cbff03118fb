// The routes of organizations, people, teams and tokens that no other table has.
import { existing } from '../src/core/existing.ts'
import { sentBy, readsOf, withAttributes, writes, type Asked } from './scaling-asked.ts'
import { USED, type Whole } from './bulk-whole.ts'
import { wire } from './purser.ts'
import type { Organization } from './seed.ts'

/** Writes of a row that use up an object each. */
export const each = <Item, Sent>(
  items: readonly Item[],
  sent: (item: Item, number: number) => Sent,
): Sent[] => items.slice(0, USED).map(sent)
/** Writes of a row that change one object again and again. */
export const repeated = <Sent>(sent: (number: number) => Sent): Sent[] =>
  Array.from({ length: USED }, (_, n) => sent(n))

export const identified = (type: string, ids: readonly string[]) => ({
  data: ids.map((id) => ({ type, id })),
})

export function rowsOfPeople(whole: Whole): Asked[] {
  const { organization, admin, invited, emptyOrganizations, userIds, membershipIds, sessionIds } = whole
  const { owner, name } = organization
  const own = `/organizations/${name}`
  const read = readsOf(owner.token)
  const send = sentBy(owner.token)
  const sendAsAdmin = sentBy(admin.token)
  const ofUser = (action: string) => (id: string) => ['POST', `/admin/users/${id}/actions/${action}`] as const
  const members = `/teams/${whole.teamIds[0]}/relationships/users`
  return [
    ...rowsOfTokens(whole),
    read('entitlements', `${own}/entitlement-set`),
    read('policies of token lifetimes', `${own}/token-ttl-policies`),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      send(
        `change the organization, ${method}`,
        '200',
        repeated((n) => [
          method,
          own,
          withAttributes('organizations', { email: `${method}-${n}@example.com` }),
        ]),
      ),
    ),
    send(
      'change policies of token lifetimes',
      '200',
      repeated((n) => {
        const policies = [{ 'token-type': 'team', 'max-ttl-ms': 86_400_000 + n }]
        const attributes = { 'token-ttl-policies': policies }
        return [
          'PATCH',
          `${own}/token-ttl-policies`,
          withAttributes('organization-token-ttl-policies', attributes),
        ]
      }),
    ),
    writes(
      'delete an empty organization',
      '204',
      each(emptyOrganizations, (empty) => wire('DELETE', `/organizations/${empty.name}`, empty.owner.token)),
    ),
    writes(
      'accept an invitation',
      '200',
      each(invited, ({ membershipId, token }) =>
        wire('POST', `/organization-memberships/${membershipId}/actions/accept`, token),
      ),
    ),
    send(
      'remove a member',
      '204',
      each(membershipIds.slice(0, USED), (id) => ['DELETE', `/organization-memberships/${id}`]),
    ),
    ...(['POST', 'DELETE'] as const).map((method) =>
      send(
        method === 'POST' ? 'add a user to a team' : 'remove a user from a team',
        '204',
        each(userIds.slice(USED), (id) => [method, members, identified('users', [id])]),
      ),
    ),
    ...['suspend', 'unsuspend', 'grant_admin', 'revoke_admin'].map((action) =>
      sendAsAdmin(action.replace('_', ' '), '200', each(userIds.slice(USED), ofUser(action))),
    ),
    sendAsAdmin(
      'create a password link',
      '201',
      each(userIds.slice(USED), (id) => ['POST', `/admin/users/${id}/password-links`]),
    ),
    sendAsAdmin(
      'delete a user',
      '204',
      each(userIds.slice(2 * USED), (id) => ['DELETE', `/admin/users/${id}`]),
    ),
    read('sessions of a user', `/users/${owner.id}/sessions`),
    read('a session', `/sessions/${sessionIds.at(-1)}`),
    send(
      'end a session',
      '204',
      each(sessionIds, (id) => ['DELETE', `/sessions/${id}`]),
    ),
    writes(
      'end all sessions of a user',
      '204',
      each(invited, ({ userId, token }) => wire('DELETE', `/users/${userId}/sessions`, token)),
    ),
  ]
}

function rowsOfTokens({ organization, emptyOrganizations, teamIds, tokenIds }: Whole): Asked[] {
  const { owner, name } = organization
  const own = `/organizations/${name}`
  const read = readsOf(owner.token)
  const send = sentBy(owner.token)
  const tokenOf = (n: number) => withAttributes('authentication-tokens', { description: `new ${n}` })
  const ofTeam = (id: string) => `/teams/${id}/authentication-token`
  const ofOwner = `/users/${owner.id}/authentication-tokens`
  const ofOrganization = ({ name: of }: Organization) => `/organizations/${of}/authentication-token`
  const first = existing(emptyOrganizations[0])
  return [
    send(
      'create a user token',
      '201',
      repeated((n) => ['POST', ofOwner, tokenOf(n)]),
    ),
    read('tokens of a user', ofOwner),
    send(
      'create the token of a team',
      '201',
      each(teamIds, (id, n) => ['POST', ofTeam(id), tokenOf(n)]),
    ),
    read('the token of a team', ofTeam(teamIds[USED - 1] ?? '')),
    send(
      'delete the token of a team',
      '204',
      each(teamIds.slice(0, USED - 1), (id) => ['DELETE', ofTeam(id)]),
    ),
    writes(
      'create the token of an organization',
      '201',
      each(emptyOrganizations, (empty, n) =>
        wire('POST', ofOrganization(empty), empty.owner.token, tokenOf(n)),
      ),
    ),
    writes(
      'delete the token of an organization',
      '204',
      each(emptyOrganizations.slice(1), (empty) => wire('DELETE', ofOrganization(empty), empty.owner.token)),
    ),
    readsOf(first.owner.token)('the token of an organization', ofOrganization(first)),
    read('a token', `/authentication-tokens/${tokenIds.at(-1)}`),
    send(
      'delete a token',
      '204',
      each(tokenIds.slice(0, USED / 2), (id) => ['DELETE', `/authentication-tokens/${id}`]),
    ),
    send(
      'delete tokens of teams',
      '204',
      each(tokenIds.slice(USED / 2), (id) => [
        'DELETE',
        `${own}/team-tokens`,
        identified('authentication-tokens', [id]),
      ]),
    ),
  ]
}
