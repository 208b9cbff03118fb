import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import {
  flagObjectOf,
  nullable,
  relationLink,
  relationOne,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment, type Identifier } from '../jsonapi/document.ts'
import type { UserRow } from './user-store.ts'

export const userDescription: ResourceDescription = {
  type: 'users',
  attributes: {
    username: nullable(Type.String()),
    'is-service-account': Type.Boolean(),
    'avatar-url': Type.Null(),
    'unconfirmed-email': Type.Null(),
    'v2-only': Type.Boolean(),
    'is-sso-login': Type.Boolean(),
    'two-factor': flagObjectOf(['enabled', 'verified']),
    email: Type.Optional(Type.String()),
    'is-site-admin': Type.Optional(Type.Boolean()),
    'is-admin': Type.Optional(Type.Boolean()),
    'is-suspended': Type.Optional(Type.Boolean()),
    permissions: flagObjectOf([
      'can-create-organization',
      'can-create-organizations',
      'can-change-email',
      'can-change-username',
      'can-change-password',
      'can-manage-user-tokens',
      'can-manage-sessions',
      'can-update-user',
      'can-view-profile',
      'can-view2fa-settings',
      'can-manage-hcp-account',
    ]),
  },
  relationships: {
    'authentication-tokens': relationLink,
    'authenticated-resource': Type.Optional(relationOne('users', 'teams', 'organizations')),
  },
  links: { self: Type.String() },
}

type UserShape = {
  /** The user, team or organization that the sent token belongs to. Shown by account/details. */
  readonly authenticatedResource?: Identifier | undefined
  /** Whether the viewer may read the user's membership, which shows the email, too. */
  readonly isMembershipReadable?: boolean
}

/**
 * The only function that builds `"type": "users"`. Only the user and site administrators see the email, and whether the
 * user is an administrator or suspended. The email is also shown next to a membership that shows it.
 */
export function userFragment(
  user: UserRow,
  viewer: Actor,
  { authenticatedResource, isMembershipReadable = false }: UserShape = {},
): Fragment {
  const isSelf = viewer.userId === user.id
  const isPerson = user.is_service_account === 0
  const isAdmin = user.is_site_admin === 1
  const isConfidant = isSelf || viewer.isSiteAdmin
  return fragment({
    id: user.id,
    type: 'users',
    attributes: {
      username: user.username,
      'is-service-account': !isPerson,
      'avatar-url': null,
      'unconfirmed-email': null,
      'v2-only': false,
      'is-sso-login': false,
      'two-factor': { enabled: false, verified: false },
      ...((isConfidant || isMembershipReadable) && user.email !== null ? { email: user.email } : {}),
      ...(isConfidant
        ? {
            'is-site-admin': isAdmin,
            'is-admin': isAdmin,
            'is-suspended': user.is_suspended === 1,
          }
        : {}),
      permissions: {
        'can-create-organization': isSelf && isPerson,
        'can-create-organizations': isSelf && isPerson,
        'can-change-email': false,
        'can-change-username': false,
        'can-change-password': false,
        'can-manage-user-tokens': isConfidant && isPerson,
        'can-manage-sessions': false,
        'can-update-user': false,
        'can-view-profile': true,
        'can-view2fa-settings': false,
        'can-manage-hcp-account': false,
      },
    },
    relationships: {
      'authentication-tokens': { links: { related: `/api/v2/users/${user.id}/authentication-tokens` } },
      ...(authenticatedResource === undefined
        ? {}
        : { 'authenticated-resource': { data: authenticatedResource } }),
    },
    links: { self: `/api/v2/users/${user.id}` },
  })
}
