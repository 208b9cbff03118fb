import { Type } from 'typebox'
import type { Config } from '../config.ts'
import type { Viewer } from '../http/route.ts'
import {
  flagObjectOf,
  nullable,
  relationLink,
  relationOne,
  resourceType,
  type Fields,
} from '../jsonapi/description.ts'
import type { Fragment, Identifier } from '../jsonapi/document.ts'
import type { UserRow } from './user-store.ts'

type UserView = {
  readonly user: UserRow
  readonly isSelf: boolean
  readonly isPerson: boolean
  /** The viewer is the user or a site administrator. */
  readonly isConfidant: boolean
  readonly showsEmail: boolean
  readonly authenticatedResource: Identifier | undefined
  readonly config: Pick<Config, 'organizationCreators'>
}

/** Each of the document's `permissions`. False: this server lacks the feature. */
const permissions: Readonly<Record<string, false | ((view: UserView) => boolean)>> = {
  'can-create-organization': mayCreateOrganizations,
  'can-create-organizations': mayCreateOrganizations,
  'can-change-email': false,
  'can-change-username': false,
  'can-change-password': false,
  'can-manage-user-tokens': ({ isConfidant, isPerson }) => isConfidant && isPerson,
  'can-manage-sessions': false,
  'can-update-user': false,
  'can-view-profile': () => true,
  'can-view2fa-settings': false,
  'can-manage-hcp-account': false,
}

const attributes: Fields<UserView> = {
  username: [nullable(Type.String()), ({ user }) => user.username],
  'is-service-account': [Type.Boolean(), ({ isPerson }) => !isPerson],
  'avatar-url': [Type.Null(), () => null],
  'unconfirmed-email': [Type.Null(), () => null],
  'v2-only': [Type.Boolean(), () => false],
  'is-sso-login': [Type.Boolean(), () => false],
  'two-factor': [flagObjectOf(['enabled', 'verified']), () => ({ enabled: false, verified: false })],
  email: [
    Type.Optional(Type.String()),
    ({ user, showsEmail }) => (showsEmail ? (user.email ?? undefined) : undefined),
  ],
  'is-site-admin': [Type.Optional(Type.Boolean()), (view) => confided(view, view.user.is_site_admin)],
  'is-admin': [Type.Optional(Type.Boolean()), (view) => confided(view, view.user.is_site_admin)],
  'is-suspended': [Type.Optional(Type.Boolean()), (view) => confided(view, view.user.is_suspended)],
  permissions: [
    flagObjectOf(Object.keys(permissions)),
    (view) =>
      Object.fromEntries(
        Object.entries(permissions).map(([name, decide]) => [name, decide !== false && decide(view)]),
      ),
  ],
}

function mayCreateOrganizations({ user, isSelf, isPerson, config }: UserView): boolean {
  return isSelf && isPerson && (config.organizationCreators === 'everybody' || user.is_site_admin === 1)
}

function confided({ isConfidant }: UserView, flag: number): boolean | undefined {
  return isConfidant ? flag === 1 : undefined
}

const users = resourceType<UserView>({
  type: 'users',
  id: ({ user }) => user.id,
  attributes,
  relationships: {
    'authentication-tokens': relationLink,
    'authenticated-resource': Type.Optional(relationOne('users', 'teams', 'organizations')),
  },
  related: ({ user, authenticatedResource: data }) => ({
    'authentication-tokens': { links: { related: `/api/v2/users/${user.id}/authentication-tokens` } },
    'authenticated-resource': data && { data },
  }),
  self: ({ user }) => `/api/v2/users/${user.id}`,
})
export const userDescription = users.description

type UserShape = {
  /** The user, team or organization that the sent token belongs to. Shown by account/details. */
  readonly authenticatedResource?: Identifier | undefined
  /** Whether the viewer may read the user's membership, which shows the email, too. */
  readonly isMembershipReadable?: boolean
}

/**
 * A user as the viewer may see them. Only the user and site administrators see the email, and whether the user is an
 * administrator or suspended. The email is also shown next to a membership that shows it.
 */
export function userFragment(
  user: UserRow,
  { actor, deps: { config } }: Pick<Viewer, 'actor' | 'deps'>,
  { authenticatedResource, isMembershipReadable = false }: UserShape = {},
): Fragment {
  const isSelf = actor.userId === user.id
  const isConfidant = isSelf || actor.isSiteAdmin
  return users.fragment({
    user,
    isSelf,
    isConfidant,
    isPerson: user.is_service_account === 0,
    showsEmail: isConfidant || isMembershipReadable,
    authenticatedResource,
    config,
  })
}
