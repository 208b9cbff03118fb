import { Type } from 'typebox'
import { relationOne, resourceType, timeSchema } from '../jsonapi/description.ts'
import type { OrganizationUsage } from './organization-usage-store.ts'

/** What an organization takes of the site. The id is the name, as that of the organization itself. */
export const organizationUsage = resourceType<OrganizationUsage>({
  type: 'organization-usages',
  id: ({ name }) => name,
  attributes: {
    name: [Type.String(), ({ name }) => name],
    'external-id': [Type.String(), ({ id }) => id],
    email: [Type.String(), ({ email }) => email],
    'created-at': [timeSchema, (usage) => usage.created_at],
    'state-bytes': [Type.Integer(), ({ bytes }) => bytes],
    'workspaces-count': [Type.Integer(), ({ workspaces }) => workspaces],
    'members-count': [Type.Integer(), ({ members }) => members],
    'owners-count': [Type.Integer(), (usage) => usage.owners_count],
    owners: [Type.Array(Type.String()), ({ owners }) => owners],
  },
  relationships: { organization: relationOne('organizations') },
  related: ({ name }) => ({ organization: { data: { id: name, type: 'organizations' } } }),
})
