import { Type } from 'typebox'
import { timeSchema, type ResourceDescription } from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import type { TagBindingRow } from './tag-binding-store.ts'
import type { EffectiveTagBinding } from './tag-bindings.ts'

const attributes = { key: Type.String(), value: Type.String() }

export const tagBindingDescription: ResourceDescription = {
  type: 'tag-bindings',
  attributes: { ...attributes, 'created-at': timeSchema },
}

export const effectiveTagBindingDescription: ResourceDescription = {
  type: 'effective-tag-bindings',
  attributes,
  // Clients treat a binding as inherited if it has `links`, so an own binding has none.
  links: { 'inherited-from': Type.String() },
  hasLinks: 'sometimes',
}

/** The only function that builds `"type": "tag-bindings"`. */
export function tagBindingFragment(binding: TagBindingRow): Fragment {
  return fragment({
    id: binding.id,
    type: 'tag-bindings',
    attributes: { key: binding.key, value: binding.value, 'created-at': binding.created_at },
  })
}

/** The only function that builds `"type": "effective-tag-bindings"`. */
export function effectiveTagBindingFragment({ binding, projectId }: EffectiveTagBinding): Fragment {
  return fragment({
    id: binding.id,
    type: 'effective-tag-bindings',
    attributes: { key: binding.key, value: binding.value },
    ...(projectId === null ? {} : { links: { 'inherited-from': `/api/v2/projects/${projectId}` } }),
  })
}
