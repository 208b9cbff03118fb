import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { flagObjectOf, nullable, type ResourceDescription } from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import type { UserRow } from './user-store.ts'

export const userDescription: ResourceDescription = {
  type: 'users',
  attributes: {
    username: nullable(Type.String()),
    email: nullable(Type.String()),
    'is-service-account': Type.Boolean(),
    'is-site-admin': Type.Boolean(),
    'is-admin': Type.Boolean(),
    'is-suspended': Type.Boolean(),
    'avatar-url': Type.Null(),
    'unconfirmed-email': Type.Null(),
    'v2-only': Type.Boolean(),
    'two-factor': flagObjectOf(['enabled', 'verified']),
    permissions: flagObjectOf([
      'can-create-organizations',
      'can-change-email',
      'can-change-username',
      'can-manage-user-tokens',
      'can-view2fa-settings',
      'can-manage-hcp-account',
    ]),
  },
  links: { self: Type.String() },
}

/** The only maker of `"type": "users"`. The email is for oneself and for site administrators. */
export function userFragment(user: UserRow, viewer: Actor): Fragment {
  const isSelf = viewer.userId === user.id
  return fragment({
    id: user.id,
    type: 'users',
    attributes: {
      username: user.username,
      email: isSelf || viewer.isSiteAdmin ? user.email : null,
      'is-service-account': user.is_service_account === 1,
      'is-site-admin': user.is_site_admin === 1,
      'is-admin': user.is_site_admin === 1,
      'is-suspended': user.is_suspended === 1,
      'avatar-url': null,
      'unconfirmed-email': null,
      'v2-only': false,
      'two-factor': { enabled: false, verified: false },
      permissions: {
        'can-create-organizations': isSelf && user.is_service_account === 0,
        'can-change-email': false,
        'can-change-username': false,
        'can-manage-user-tokens': isSelf && user.is_service_account === 0,
        'can-view2fa-settings': false,
        'can-manage-hcp-account': false,
      },
    },
    links: { self: `/api/v2/users/${user.id}` },
  })
}
