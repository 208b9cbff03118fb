import { Type } from 'typebox'
import { isPermitted, shownPermissions, type Caller } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import type { Config } from '../config.ts'
import {
  flagObjectOf,
  relationLink,
  relationMaybe,
  relationOne,
  schemasIn,
  schemasOfValues,
  timeSchema,
  valuesIn,
  type Fields,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import { echoedSchemas, fixedAttributes, settingsOf } from './organization-attributes.ts'
import type { OrganizationRow } from './organization-store.ts'

/** Each of the document's `permissions`, by the permission of the table. False: this server lacks the feature. */
const permissions: Record<string, Permission | false> = {
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
  'can-create-workspace-migration': false,
  'can-create-module': false,
  'can-create-provider': false,
  'can-deploy-no-code-modules': false,
  'can-enable-stacks': false,
  'can-manage-no-code-modules': false,
  'can-manage-run-tasks': false,
  'can-manage-sso': false,
  'can-manage-tags': false,
  'can-manage-varsets': false,
  'can-read-run-tasks': false,
  'can-read-varsets': false,
  'can-update-agent-pools': false,
  'can-update-hyok-configuration': false,
  'can-update-oauth': false,
  'can-update-sentinel': false,
  'can-update-ssh-keys': false,
  'can-view-hyok-feature-info': false,
}

const fields: Fields<Caller & { organization: OrganizationRow }> = {
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
    flagObjectOf(Object.keys(permissions)),
    ({ actor, standing }) =>
      shownPermissions(permissions, (permission) => isPermitted(permission, actor, standing, {})),
  ],
}

export const organizationDescription: ResourceDescription = {
  type: 'organizations',
  attributes: {
    ...schemasIn(fields),
    ...echoedSchemas,
    ...schemasOfValues(fixedAttributes),
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
  { actor, standing }: Caller,
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
  attributes: schemasOfValues(entitlements),
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
