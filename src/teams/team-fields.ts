// The attributes of a team: as documents show them and as requests change them. A new one is added here, to the
// table, to a migration and to the insertion in team-store.ts.
import { Type } from 'typebox'
import {
  flagSet,
  flagsInDocument,
  flagsInList,
  hasFlag,
  knownFlags,
  organizationFlags,
  type OrganizationFlag,
} from '../access/organization-flags.ts'
import type { InForce } from '../access/standing.ts'
import type { Config } from '../config.ts'
import { nameSchema, shortTextSchema } from '../core/names.ts'
import { oneOf, readResource, type ReadBody } from '../jsonapi/body.ts'
import {
  closedObject,
  flagObjectOf,
  nullable,
  relationMany,
  relationOne,
  resourceType,
  type Fields,
} from '../jsonapi/description.ts'
import type { Identifier } from '../jsonapi/document.ts'
import { organizationAccessSchemas, type FlagChanges } from './organization-access.ts'
import type { TeamRow } from './team-store.ts'

export type TeamShape = {
  /** Whether the team is shown alone, with every flag, or in a list. */
  readonly form: 'whole' | 'listed'
  /** Whether the request includes memberships. The documented dialect shows the relationship only then. */
  readonly hasMemberships: boolean
  /** The attributes and relationships that the request asks for. All, if undefined. */
  readonly fields?: ReadonlySet<string> | undefined
  /** The request has just created the team, so it has no members. */
  readonly isNew?: boolean
}

export const wholeTeam: TeamShape = { form: 'whole', hasMemberships: false }

export type TeamPermissions = Record<string, boolean>

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

export type TeamView = {
  readonly team: TeamRow
  readonly permissions: TeamPermissions
  readonly shape: TeamShape
  readonly config: Config
  readonly organizationName: string
}

export type TeamRelations = { readonly users: Identifier[]; readonly memberships: Identifier[] }

const fields: Fields<TeamView> = {
  name: [Type.String(), ({ team }) => team.name],
  'sso-team-id': [
    Type.Optional(nullable(Type.String())),
    ({ team, config }) => (hasSsoTeamId(config) ? team.sso_team_id : undefined),
  ],
  'users-count': [Type.Integer(), ({ team }) => team.users_count],
  visibility: [
    Type.Union([Type.Literal('secret'), Type.Literal('organization')]),
    ({ team }) => team.visibility,
  ],
  'allow-member-token-management': [
    Type.Boolean(),
    ({ team, config }) => hasMemberTokenManagement(config) && team.allow_member_token_management === 1,
  ],
  permissions: [flagObjectOf(permissionNames), ({ permissions }) => permissions],
  'organization-access': [
    flagObjectOf(organizationFlags),
    ({ team, shape, config: { dialect } }) =>
      flagObject(team.organization_access, flagsShown(shape, dialect)),
  ],
}

export const teamResource = resourceType<TeamView & TeamRelations>({
  type: 'teams',
  id: ({ team }) => team.id,
  attributes: fields,
  relationships: {
    users: relationMany('users'),
    'organization-memberships': Type.Optional(relationMany('organization-memberships')),
    'authentication-token': closedObject({ meta: closedObject({}) }),
    organization: relationOne('organizations'),
  },
  related: (view) => ({
    users: { data: view.users },
    'organization-memberships': hasMemberships(view) ? { data: view.memberships } : undefined,
    'authentication-token': { meta: {} },
    organization: { data: { id: view.organizationName, type: 'organizations' } },
  }),
  self: ({ team }) => `/api/v2/teams/${team.id}`,
  isSparse: true,
})

/** The documented dialect shows the relationship only if the request asks for it. */
function hasMemberships({ shape, config }: TeamView): boolean {
  const isAsked = shape.hasMemberships || shape.fields?.has('organization-memberships') === true
  return isAsked || config.dialect === 'current'
}

function flagsShown({ form, fields }: TeamShape, dialect: Config['dialect']) {
  // Clients of the platform ask for no fields, so only others see the flags that the platform does not have.
  if (fields !== undefined) return knownFlags(dialect)
  return form === 'listed' ? flagsInList(dialect) : flagsInDocument(dialect)
}

function flagObject(set: number, flags: readonly OrganizationFlag[]): Record<string, boolean> {
  return Object.fromEntries(flags.map((flag) => [flag, hasFlag(set, flag)]))
}

const attributes = {
  name: nameSchema,
  'sso-team-id': shortTextSchema,
  visibility: oneOf('secret', 'organization'),
  'organization-access': organizationAccessSchemas.current,
  'allow-member-token-management': Type.Boolean(),
  // The platform's documentation names both keys for this attribute, so both are accepted.
  'allow-team-token-management': Type.Boolean(),
}

/** What clients of the platform send, or send back, and this server does not have or does not let them change. */
const ignored = [
  'description',
  'hcp-resource-name',
  'is-unified',
  'non-service-users-count',
  'permissions',
  'scim-group-name',
  'scim-linked',
  'scim-sync-paused',
  'scim-updated-at',
  'users-count',
  ...[
    'manage-public-modules',
    'manage-public-providers',
    'manage-registry-artifact-tags',
    'manage-registry-artifact-version-tags',
    'manage-registry-components',
  ].map((flag) => `organization-access/${flag}`),
]

export const teamBody = { type: 'teams', attributes, ignored }
export const newTeamBody = { ...teamBody, required: ['name'] as const }

/** The attributes that a request changes. Attributes left out keep their value. */
export type TeamChanges = {
  name?: string
  ssoTeamId?: string | null
  visibility?: 'secret' | 'organization'
  flags?: FlagChanges
  allowMemberTokenManagement?: boolean
}

/** Attributes that the dialect or the emulated release does not know are ignored, whatever their value. */
function knownAttributes(config: Config): typeof attributes {
  const known: Partial<typeof attributes> = {
    ...attributes,
    'organization-access': organizationAccessSchemas[config.dialect],
  }
  if (!hasSsoTeamId(config)) delete known['sso-team-id']
  if (!hasMemberTokenManagement(config)) {
    delete known['allow-member-token-management']
    delete known['allow-team-token-management']
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of the body stays that of all attributes
  return known as typeof attributes
}

/** A changed team, and the problems that need no database to find. */
export function readTeam(bytes: Uint8Array, config: Config, pathId?: string) {
  return changesOf(readResource(bytes, { ...teamBody, attributes: knownAttributes(config) }, pathId))
}

/** A new team, and the problems that need no database to find. */
export function readNewTeam(bytes: Uint8Array, config: Config) {
  const body = readResource(bytes, { ...newTeamBody, attributes: knownAttributes(config) })
  const { changes, problems } = changesOf(body)
  return { changes: { ...changes, name: body.attributes.name }, problems }
}

function changesOf({ attributes: given, problems }: ReadBody<typeof teamBody>) {
  const member = given['allow-member-token-management']
  const team = given['allow-team-token-management']
  if (member !== undefined && team !== undefined && member !== team) {
    problems.push({
      detail:
        'allow-member-token-management and allow-team-token-management mean the same and must not differ',
      pointer: '/data/attributes/allow-team-token-management',
    })
  }
  const changes: TeamChanges = {
    name: given.name,
    visibility: given.visibility,
    flags: given['organization-access'],
  }
  if (given['sso-team-id'] !== undefined) changes.ssoTeamId = given['sso-team-id'] || null
  changes.allowMemberTokenManagement = member ?? team
  return { changes, problems }
}

type TeamColumns = Pick<TeamRow, 'name' | 'sso_team_id' | 'visibility' | 'allow_member_token_management'>

/** The columns that the changes set, without the flags, which need a decision. */
export function teamColumns(changes: TeamChanges): Partial<TeamColumns> {
  const { name, ssoTeamId, visibility, allowMemberTokenManagement: allows } = changes
  const columns: Partial<TeamColumns> = {}
  if (name !== undefined) columns.name = name
  if (ssoTeamId !== undefined) columns.sso_team_id = ssoTeamId
  if (visibility !== undefined) columns.visibility = visibility
  if (allows !== undefined) columns.allow_member_token_management = allows ? 1 : 0
  return columns
}

/** Self-hosted releases have sso-team-id from 202204-1 on. The hosted edition has it. */
export function hasSsoTeamId(config: Config): boolean {
  return config.release === undefined || compareReleases(config.release, '202204-1') >= 0
}

/** Self-hosted releases have allow-member-token-management from 202408-1 on. In older ones it is false. */
export function hasMemberTokenManagement(config: Config): boolean {
  return config.release === undefined || compareReleases(config.release, '202408-1') >= 0
}

/** What the settings put in force of the teams' stored permissions. */
export function inForceOf(config: Config): InForce {
  return {
    flags: flagSet(...knownFlags(config.dialect)),
    memberTokenManagement: hasMemberTokenManagement(config),
  }
}

function compareReleases(a: string, b: string): number {
  const [monthA = 0, numberA = 0] = a.split('-').map(Number)
  const [monthB = 0, numberB = 0] = b.split('-').map(Number)
  return monthA - monthB || numberA - numberB
}
