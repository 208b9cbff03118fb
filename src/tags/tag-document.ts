import { Type } from 'typebox'
import {
  relationOne,
  schemasIn,
  valuesIn,
  type Fields,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import type { TagRow } from './tag-store.ts'

const fields: Fields<TagRow> = {
  name: [Type.String(), (tag) => tag.name],
  'instance-count': [Type.Integer(), (tag) => tag.instance_count],
}

export const tagDescription: ResourceDescription = {
  type: 'tags',
  attributes: schemasIn(fields),
  relationships: { organization: relationOne('organizations') },
}

/** The only function that builds `"type": "tags"`. */
export function tagFragment(organizationName: string, tag: TagRow): Fragment {
  return fragment({
    id: tag.id,
    type: 'tags',
    attributes: valuesIn(fields, tag),
    relationships: { organization: { data: { id: organizationName, type: 'organizations' } } },
  })
}
