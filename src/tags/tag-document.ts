import { Type } from 'typebox'
import { relationOne, type ResourceDescription } from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import type { TagRow } from './tag-store.ts'

export const tagDescription: ResourceDescription = {
  type: 'tags',
  attributes: { name: Type.String(), 'instance-count': Type.Integer() },
  relationships: { organization: relationOne('organizations') },
}

/** The only function that builds `"type": "tags"`. */
export function tagFragment(organizationName: string, tag: TagRow): Fragment {
  return fragment({
    id: tag.id,
    type: 'tags',
    attributes: { name: tag.name, 'instance-count': tag.instance_count },
    relationships: { organization: { data: { id: organizationName, type: 'organizations' } } },
  })
}
