import { Type } from 'typebox'
import { isPermitted, type Standing } from '../access/decide.ts'
import type { Actor } from '../access/actor.ts'
import {
  flagsInList,
  hasFlag,
  knownFlags,
  organizationFlags,
  type OrganizationFlag,
} from '../access/organization-flags.ts'
import type { Config } from '../config.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import {
  closedObject,
  flagObjectOf,
  nullable,
  relationMany,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment, type Resource } from '../jsonapi/document.ts'
import { listTeamMembers, teamFacts, type TeamMember, type TeamRow } from './team-store.ts'

/** Whether a team is shown by itself, with every flag, or in a list. */
export type TeamShape = 'whole' | 'listed' | 'whole with memberships' | 'listed with memberships'

export type TeamViewer = { actor: Actor; standing: Standing }

type TeamPermissions = Record<string, boolean>

const permissionNames = [
  'can-update-membership',
  'can-destroy',
  'can-update-organization-access',
  'can-update-api-token',
  'can-update-visibility',
  'can-update-name',
  'can-update-sso-team-id',
  'can-update-member-token-management',
  'can-view-api-token',
]

export const teamDescription: ResourceDescription = {
  type: 'teams',
  attributes: {
    name: Type.String(),
    'sso-team-id': Type.Optional(nullable(Type.String())),
    'users-count': Type.Integer(),
    visibility: Type.Union([Type.Literal('secret'), Type.Literal('organization')]),
    'allow-member-token-management': Type.Boolean(),
    permissions: flagObjectOf(permissionNames),
    'organization-access': flagObjectOf(organizationFlags),
  },
  relationships: {
    users: relationMany('users'),
    'organization-memberships': Type.Optional(relationMany('organization-memberships')),
    'authentication-token': closedObject({ meta: closedObject({}) }),
  },
  links: { self: Type.String() },
}

/** What the caller may do with a team, as its document says. */
function teamPermissions(team: TeamRow, { actor, standing }: TeamViewer, config: Config): TeamPermissions {
  const target = { team: teamFacts(team) }
  const isOwners = team.is_owners === 1
  const mayManage = isPermitted('team:manage', actor, standing, target)
  const canManage = !isOwners && mayManage
  const canUpdateToken = isPermitted('team:tokens', actor, standing, target)
  const documented = {
    'can-update-membership': isPermitted('team:update-members', actor, standing, target),
    'can-destroy': canManage,
    'can-update-organization-access': !isOwners && isPermitted('team:grant', actor, standing, target),
    'can-update-api-token': canUpdateToken,
    'can-update-visibility': canManage,
  }
  if (config.dialect === 'documented') return documented
  return {
    ...documented,
    'can-update-name': canManage,
    // These can be changed of the team owners too.
    'can-update-sso-team-id': mayManage && hasSsoTeamId(config),
    'can-update-member-token-management': mayManage && hasMemberTokenManagement(config),
    'can-view-api-token': canUpdateToken,
  }
}

/**
 * The team documents of a page, or of one team, for one caller. Each is kept by (team, its version, what the caller may
 * do, shape), which never changes its meaning.
 */
export async function teamFragments(
  tx: Transaction,
  deps: Deps,
  teams: readonly TeamRow[],
  viewer: TeamViewer,
  shape: TeamShape,
): Promise<Fragment[]> {
  const fragments: Fragment[] = []
  for (const team of teams) {
    const permissions = teamPermissions(team, viewer, deps.config)
    const key = `${team.id} ${team.version} ${Object.values(permissions).map(Number).join('')} ${shape}`
    let text = deps.documents.get<string>(key)
    if (text === undefined) {
      const members = await listTeamMembers(tx, team.id)
      text = fragment(teamResource(team, members, permissions, shape, deps.config))
      // A write's own view may still be undone.
      if (tx.mode === 'read') deps.documents.setWhenWantedAgain(key, text)
    }
    fragments.push(text)
  }
  return fragments
}

/** The only maker of `"type": "teams"`. */
function teamResource(
  team: TeamRow,
  members: readonly TeamMember[],
  permissions: TeamPermissions,
  shape: TeamShape,
  config: Config,
): Resource {
  const flags = shape.startsWith('listed') ? flagsInList(config.dialect) : knownFlags(config.dialect)
  const active = members.filter((member) => member.is_active === 1)
  // The documented dialect shows someone who was invited in no team document; the relation itself only with its include.
  const shown = config.dialect === 'current' ? members : active
  return {
    id: team.id,
    type: 'teams',
    attributes: {
      name: team.name,
      ...(hasSsoTeamId(config) ? { 'sso-team-id': team.sso_team_id } : {}),
      'users-count': team.users_count,
      visibility: team.visibility,
      'allow-member-token-management':
        hasMemberTokenManagement(config) && team.allow_member_token_management === 1,
      permissions,
      'organization-access': flagObject(team.organization_access, flags),
    },
    relationships: {
      users: {
        data: members
          .filter((member) => member.is_active)
          .map((member) => ({ id: member.user_id, type: 'users' })),
      },
      ...(config.dialect === 'current' || shape.endsWith('with memberships')
        ? {
            'organization-memberships': {
              data: shown.map((member) => ({ id: member.membership_id, type: 'organization-memberships' })),
            },
          }
        : {}),
      'authentication-token': { meta: {} },
    },
    links: { self: `/api/v2/teams/${team.id}` },
  }
}

function flagObject(set: number, flags: readonly OrganizationFlag[]): Record<string, boolean> {
  return Object.fromEntries(flags.map((flag) => [flag, hasFlag(set, flag)]))
}

/** sso-team-id came with self-hosted release 202204-1, and is in the hosted edition. */
export function hasSsoTeamId(config: Config): boolean {
  return config.release === undefined || compareReleases(config.release, '202204-1') >= 0
}

/** allow-member-token-management came with self-hosted release 202408-1; before, it is false. */
export function hasMemberTokenManagement(config: Config): boolean {
  return config.release === undefined || compareReleases(config.release, '202408-1') >= 0
}

function compareReleases(a: string, b: string): number {
  const [monthA, numberA] = a.split('-').map(Number) as [number, number]
  const [monthB, numberB] = b.split('-').map(Number) as [number, number]
  return monthA - monthB || numberA - numberB
}
