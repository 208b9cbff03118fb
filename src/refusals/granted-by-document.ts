import { Type } from 'typebox'
import type { NeededGrant } from '../access/needed-grants.ts'
import { closedObject, nullable } from '../jsonapi/description.ts'
import { wordsOfGrant, type NameOf } from './refusal-text.ts'

/** Grants of which each would be enough alone: in a refusal, and in effective access. */
export const grantedBySchema = Type.Array(
  closedObject({
    grant: Type.String(),
    team: Type.Optional(Type.String()),
    // Names are only there for readers who may see what they name.
    'team-name': Type.Optional(Type.String()),
    flag: Type.Optional(Type.String()),
    access: Type.Optional(Type.String()),
    'or-more': Type.Optional(Type.Boolean()),
    on: Type.Optional(
      Type.Array(
        closedObject({
          type: Type.String(),
          id: nullable(Type.String()),
          name: Type.Optional(Type.String()),
        }),
      ),
    ),
    description: Type.String(),
  }),
)

/** The grants with names beside ids, and in words. */
export function shownGrantedBy(needed: readonly NeededGrant[], nameOf: NameOf): object[] {
  const named = (place: { type: string; id: string | null }) => ({
    ...place,
    name: place.id === null ? undefined : nameOf(place.id),
  })
  return needed.map((one) => ({
    ...one,
    'team-name': 'team' in one ? nameOf(one.team) : undefined,
    ...('on' in one ? { on: one.on.map(named) } : {}),
    description: wordsOfGrant(one, nameOf),
  }))
}
