import { Type } from 'typebox'
import { oneOf } from '../jsonapi/body.ts'
import { closedObject, type ResourceDescription } from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import {
  levelSchema,
  maySchemas,
  shownMay,
  shownSources,
  sourcesSchema,
  type EffectiveAccess,
} from './effective-access-document.ts'
import { levelOn } from './levels.ts'

export const accessHolderDescription: ResourceDescription = {
  type: 'access-holders',
  attributes: {
    who: closedObject({ type: oneOf('users', 'teams'), id: Type.String(), name: Type.String() }),
    level: levelSchema,
    ...maySchemas,
    grants: sourcesSchema,
  },
}

/** The only function that builds `"type": "access-holders"`, for callers who may ask about everybody's access. */
export function accessHolderFragment(
  name: string,
  { holder, place, held, sources }: EffectiveAccess,
): Fragment {
  const { on, id } = place
  return fragment({
    id: `${holder.id}:${id}`,
    type: 'access-holders',
    attributes: {
      who: { type: `${holder.kind}s`, id: holder.id, name },
      level: levelOn(on, held),
      ...shownMay(on, held),
      grants: shownSources(on, sources),
    },
  })
}
