import { Type } from 'typebox'
import { resourceType, timeSchema, type ResourceDescription } from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import type { TagBindingRow } from './tag-binding-store.ts'
import type { EffectiveTagBinding } from './tag-bindings.ts'

export const tagBindingResource = resourceType<TagBindingRow>({
  type: 'tag-bindings',
  id: ({ id }) => id,
  attributes: {
    key: [Type.String(), ({ key }) => key],
    value: [Type.String(), ({ value }) => value],
    'created-at': [timeSchema, (binding) => binding.created_at],
  },
})

const effective = resourceType<EffectiveTagBinding>({
  type: 'effective-tag-bindings',
  id: ({ binding }) => binding.id,
  attributes: {
    key: [Type.String(), ({ binding }) => binding.key],
    value: [Type.String(), ({ binding }) => binding.value],
  },
})

export const effectiveTagBindingDescription: ResourceDescription = {
  ...effective.description,
  // Clients treat a binding as inherited if it has `links`, so an own binding has none.
  links: { 'inherited-from': Type.String() },
  hasLinks: 'sometimes',
}

export function effectiveTagBindingFragment(binding: EffectiveTagBinding): Fragment {
  const { projectId } = binding
  const links = projectId === null ? undefined : { 'inherited-from': `/api/v2/projects/${projectId}` }
  return fragment({ ...effective.resource(binding), links })
}
