import { Type } from 'typebox'
import {
  closedObject,
  nullable,
  relationMaybe,
  schemasIn,
  timeSchema,
  valuesIn,
  type Fields,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import type { RefusalRow } from './refusal-store.ts'
import { grantedBySchema, shownGrantedBy } from './granted-by-document.ts'
import {
  grantsOf,
  nameOfCaller,
  OUTSIDER,
  sentencesOf,
  wordsOfStanding,
  type NameOf,
} from './refusal-text.ts'

/** `isNamed`: the viewer may know who the caller was. */
const fields: Fields<{ row: RefusalRow; isNamed: boolean; nameOf: NameOf }> = {
  'request-id': [Type.String(), ({ row }) => row.request_id],
  at: [timeSchema, ({ row }) => row.at],
  'first-at': [timeSchema, ({ row }) => row.first_at],
  count: [Type.Integer(), ({ row }) => row.count],
  method: [Type.String(), ({ row }) => row.method],
  path: [Type.String(), ({ row }) => row.path],
  permission: [nullable(Type.String()), ({ row }) => row.permission],
  reason: [Type.Union([Type.Literal('missing'), Type.Literal('forbidden')]), ({ row }) => row.reason],
  object: [
    nullable(closedObject({ type: Type.String(), id: nullable(Type.String()) })),
    ({ row }) => (row.object_type === null ? null : { type: row.object_type, id: row.object_id }),
  ],
  caller: [
    nullable(closedObject({ type: Type.String(), id: nullable(Type.String()), name: Type.String() })),
    ({ row, isNamed }) =>
      isNamed ? { type: row.caller_type, id: row.caller_id, name: row.caller_name } : null,
  ],
  standing: [Type.Array(Type.String()), ({ row }) => wordsOfStanding(row)],
  'granted-by': [grantedBySchema, ({ row, nameOf }) => shownGrantedBy(grantsOf(row), nameOf)],
  explanation: [
    Type.String(),
    ({ row, isNamed }) => {
      const name = isNamed ? nameOfCaller(row) : `${OUTSIDER[0]?.toUpperCase()}${OUTSIDER.slice(1)}`
      return sentencesOf(row, name).join(' ')
    },
  ],
}

export const refusalDescription: ResourceDescription = {
  type: 'refusals',
  attributes: schemasIn(fields),
  relationships: { organization: relationMaybe('organizations') },
}

/** What a reader may learn. Only site administrators see the name of an outsider. */
type RefusalSight = { readonly namesOutsiders: boolean; readonly nameOf: NameOf }

/** The attributes of a refusal. */
export function refusalAttributes(
  row: RefusalRow,
  { namesOutsiders, nameOf }: RefusalSight,
): Record<string, unknown> {
  return valuesIn(fields, { row, isNamed: row.is_inside === 1 || namesOutsiders, nameOf })
}

/** The only function that makes `refusals` resources. */
export function refusalFragment(row: RefusalRow, sight: RefusalSight): Fragment {
  return fragment({
    id: row.request_id,
    type: 'refusals',
    attributes: refusalAttributes(row, sight),
    relationships: {
      organization: {
        data: row.organization_name === null ? null : { type: 'organizations', id: row.organization_name },
      },
    },
  })
}
