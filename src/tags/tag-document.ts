import { Type } from 'typebox'
import { relationOne, resourceType } from '../jsonapi/description.ts'
import type { TagRow } from './tag-store.ts'

export const tagResource = resourceType<{ tag: TagRow; organizationName: string }>({
  type: 'tags',
  id: ({ tag }) => tag.id,
  attributes: {
    name: [Type.String(), ({ tag }) => tag.name],
    'instance-count': [Type.Integer(), ({ tag }) => tag.instance_count],
  },
  relationships: { organization: relationOne('organizations') },
  related: ({ organizationName: id }) => ({ organization: { data: { id, type: 'organizations' } } }),
})
