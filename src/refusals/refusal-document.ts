import { Type } from 'typebox'
import {
  closedObject,
  nullable,
  relationMaybe,
  timeSchema,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import type { RefusalRow } from './refusal-store.ts'
import {
  grantsOf,
  nameOfCaller,
  OUTSIDER,
  sentencesOf,
  wordsOfGrant,
  wordsOfStanding,
} from './refusal-text.ts'

export const refusalDescription: ResourceDescription = {
  type: 'refusals',
  attributes: {
    'request-id': Type.String(),
    at: timeSchema,
    'first-at': timeSchema,
    count: Type.Integer(),
    method: Type.String(),
    path: Type.String(),
    permission: nullable(Type.String()),
    reason: Type.Union([Type.Literal('missing'), Type.Literal('forbidden')]),
    object: nullable(closedObject({ type: Type.String(), id: nullable(Type.String()) })),
    caller: nullable(closedObject({ type: Type.String(), id: nullable(Type.String()), name: Type.String() })),
    standing: Type.Array(Type.String()),
    'granted-by': Type.Array(
      closedObject({
        grant: Type.String(),
        team: Type.Optional(Type.String()),
        flag: Type.Optional(Type.String()),
        access: Type.Optional(Type.String()),
        'or-more': Type.Optional(Type.Boolean()),
        on: Type.Optional(Type.Array(closedObject({ type: Type.String(), id: nullable(Type.String()) }))),
        description: Type.String(),
      }),
    ),
    explanation: Type.String(),
  },
  relationships: { organization: relationMaybe('organizations') },
}

/** The attributes of a refusal. Only site administrators see the name of an outsider. */
export function refusalAttributes(row: RefusalRow, namesOutsiders: boolean) {
  const isNamed = row.is_inside === 1 || namesOutsiders
  const name = isNamed ? nameOfCaller(row) : `${OUTSIDER[0]?.toUpperCase()}${OUTSIDER.slice(1)}`
  return {
    'request-id': row.request_id,
    at: row.at,
    'first-at': row.first_at,
    count: row.count,
    method: row.method,
    path: row.path,
    permission: row.permission,
    reason: row.reason,
    object: row.object_type === null ? null : { type: row.object_type, id: row.object_id },
    caller: isNamed ? { type: row.caller_type, id: row.caller_id, name: row.caller_name } : null,
    standing: wordsOfStanding(row),
    'granted-by': grantsOf(row).map((needed) => ({ ...needed, description: wordsOfGrant(needed) })),
    explanation: sentencesOf(row, name).join(' '),
  }
}

/** The only function that makes `refusals` resources. */
export function refusalFragment(row: RefusalRow, namesOutsiders: boolean): Fragment {
  return fragment({
    id: row.request_id,
    type: 'refusals',
    attributes: refusalAttributes(row, namesOutsiders),
    relationships: {
      organization: {
        data: row.organization_name === null ? null : { type: 'organizations', id: row.organization_name },
      },
    },
  })
}
