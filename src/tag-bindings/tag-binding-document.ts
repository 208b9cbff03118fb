import { Type } from 'typebox'
import {
  schemasIn,
  timeSchema,
  valuesIn,
  type Fields,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import type { TagBindingRow } from './tag-binding-store.ts'
import type { EffectiveTagBinding } from './tag-bindings.ts'

const effectiveFields: Fields<TagBindingRow> = {
  key: [Type.String(), ({ key }) => key],
  value: [Type.String(), ({ value }) => value],
}
const fields: Fields<TagBindingRow> = {
  ...effectiveFields,
  'created-at': [timeSchema, (binding) => binding.created_at],
}

export const tagBindingDescription: ResourceDescription = {
  type: 'tag-bindings',
  attributes: schemasIn(fields),
}

export const effectiveTagBindingDescription: ResourceDescription = {
  type: 'effective-tag-bindings',
  attributes: schemasIn(effectiveFields),
  // Clients treat a binding as inherited if it has `links`, so an own binding has none.
  links: { 'inherited-from': Type.String() },
  hasLinks: 'sometimes',
}

/** The only function that builds `"type": "tag-bindings"`. */
export function tagBindingFragment(binding: TagBindingRow): Fragment {
  return fragment({
    id: binding.id,
    type: 'tag-bindings',
    attributes: valuesIn(fields, binding),
  })
}

/** The only function that builds `"type": "effective-tag-bindings"`. */
export function effectiveTagBindingFragment({ binding, projectId }: EffectiveTagBinding): Fragment {
  return fragment({
    id: binding.id,
    type: 'effective-tag-bindings',
    attributes: valuesIn(effectiveFields, binding),
    ...(projectId === null ? {} : { links: { 'inherited-from': `/api/v2/projects/${projectId}` } }),
  })
}
