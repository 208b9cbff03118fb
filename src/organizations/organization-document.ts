import { Type, type TSchema } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { isPermitted, type Standing } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import type { Config } from '../config.ts'
import {
  flagObjectOf,
  relationLink,
  relationMaybe,
  relationOne,
  schemasIn,
  timeSchema,
  valuesIn,
  type Fields,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import { echoedAttributes, fixedAttributes, settingsOf } from './organization-attributes.ts'
import type { OrganizationRow } from './organization-store.ts'

/** The `permissions` of the document, and the permission of the table that decides each. */
const permissionsHere: Record<string, Permission> = {
  'can-update': 'organization:manage',
  'can-destroy': 'organization:manage',
  'can-update-api-token': 'organization:token',
  'can-update-authentication-token': 'organization:token',
  'can-view-users': 'memberships:list',
  'can-manage-users': 'membership:invite',
  'can-create-team': 'team:manage',
  'can-create-workspace': 'workspace:create',
  'can-create-project': 'project:create',
  'can-manage-auditing': 'organization:token',
  'can-read-audit-events': 'audit:read',
  'can-read-refusals': 'refusals:read',
  'can-read-effective-access': 'effective-access:read',
  'can-traverse': 'organization:read',
  'can-access-via-teams': 'organization:read',
}

/** Permissions that nobody has, because this server lacks the feature. */
const permissionsNowhere = [
  'can-create-workspace-migration',
  'can-create-module',
  'can-create-provider',
  'can-deploy-no-code-modules',
  'can-enable-stacks',
  'can-manage-no-code-modules',
  'can-manage-run-tasks',
  'can-manage-sso',
  'can-manage-tags',
  'can-manage-varsets',
  'can-read-run-tasks',
  'can-read-varsets',
  'can-update-agent-pools',
  'can-update-hyok-configuration',
  'can-update-oauth',
  'can-update-sentinel',
  'can-update-ssh-keys',
  'can-view-hyok-feature-info',
] as const

function organizationPermissions(actor: Actor, standing: Standing): Record<string, boolean> {
  return {
    ...Object.fromEntries(
      Object.entries(permissionsHere).map(([name, permission]) => [
        name,
        isPermitted(permission, actor, standing, {}),
      ]),
    ),
    ...Object.fromEntries(permissionsNowhere.map((name) => [name, false])),
  }
}

const schemaOf = (value: unknown): TSchema =>
  value === null ? Type.Null() : typeof value === 'boolean' ? Type.Boolean() : Type.Integer()

const schemas = <T>(from: Record<string, T>, schema: (value: T) => TSchema) =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, schema(value)]))

const fields: Fields<{ organization: OrganizationRow; actor: Actor; standing: Standing }> = {
  name: [Type.String(), ({ organization }) => organization.name],
  'external-id': [Type.String(), ({ organization }) => organization.id],
  email: [Type.String(), ({ organization }) => organization.email],
  'created-at': [timeSchema, ({ organization }) => organization.created_at],
  'delegated-team-management': [
    Type.Boolean(),
    ({ organization }) => organization.delegated_team_management === 1,
  ],
  'user-tokens-enabled': [Type.Boolean(), ({ organization }) => organization.user_tokens_enabled === 1],
  'max-ttl-enabled': [Type.Boolean(), ({ organization }) => organization.max_ttl_enabled === 1],
  permissions: [
    flagObjectOf([...Object.keys(permissionsHere), ...permissionsNowhere]),
    ({ actor, standing }) => organizationPermissions(actor, standing),
  ],
}

export const organizationDescription: ResourceDescription = {
  type: 'organizations',
  attributes: {
    ...schemasIn(fields),
    ...schemas(echoedAttributes, ({ schema }) => schema),
    ...schemas(fixedAttributes, schemaOf),
  },
  relationships: {
    'default-project': relationOne('projects'),
    'default-agent-pool': relationMaybe('agent-pools'),
    'entitlement-set': relationOne('entitlement-sets'),
    'authentication-token': relationLink,
  },
  links: { self: Type.String() },
}

/** The only function that builds `"type": "organizations"`. The id is the name, as clients expect. */
export function organizationFragment(
  organization: OrganizationRow,
  { actor, standing }: { actor: Actor; standing: Standing },
  config: Config,
): Fragment {
  const { id, name } = organization
  const self = `/api/v2/organizations/${name}`
  return fragment({
    id: name,
    type: 'organizations',
    attributes: {
      ...valuesIn(fields, { organization, actor, standing }),
      ...settingsOf(organization.settings, config),
      ...fixedAttributes,
    },
    relationships: {
      'default-project': { data: { id: organization.default_project_id, type: 'projects' } },
      'default-agent-pool': { data: null },
      'entitlement-set': {
        data: { id, type: 'entitlement-sets' },
        links: { related: `${self}/entitlement-set` },
      },
      'authentication-token': { links: { related: `${self}/authentication-token` } },
    },
    links: { self },
  })
}

/** The features of the platform that this server has. */
const entitlements = {
  agents: false,
  'audit-logging': true,
  'configuration-designer': false,
  'cost-estimation': false,
  'global-run-tasks': false,
  infragraph: false,
  'infragraph-with-nrtu': false,
  'module-tests-generation': false,
  // False makes the CLIs run locally, whatever execution mode a workspace has.
  operations: false,
  'policy-enforcement': false,
  'private-module-registry': false,
  'private-run-tasks': false,
  'run-tasks': false,
  'self-serve-billing': false,
  sentinel: false,
  sso: false,
  'state-storage': true,
  teams: true,
  'usage-reporting': false,
  'vcs-integrations': false,
  'waypoint-actions': false,
  'waypoint-templates-and-addons': false,
} as const

export const entitlementSetDescription: ResourceDescription = {
  type: 'entitlement-sets',
  attributes: schemas(entitlements, schemaOf),
  links: { self: Type.String() },
}

/** The only function that builds `"type": "entitlement-sets"`. */
export function entitlementSetFragment({ id, name }: OrganizationRow): Fragment {
  return fragment({
    id,
    type: 'entitlement-sets',
    attributes: entitlements,
    links: { self: `/api/v2/organizations/${name}/entitlement-set` },
  })
}
