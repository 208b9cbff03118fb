import { Type } from 'typebox'
import { closedObject, nullable, relationMaybe, resourceType, timeSchema } from '../jsonapi/description.ts'
import type { Resource } from '../jsonapi/document.ts'
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

type RefusalView = {
  readonly row: RefusalRow
  /** The viewer may know who the caller was. */
  readonly isNamed: boolean
  readonly nameOf: NameOf
}

const refusals = resourceType<RefusalView>({
  type: 'refusals',
  id: ({ row }) => row.request_id,
  attributes: {
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
  },
  relationships: { organization: relationMaybe('organizations') },
  related: ({ row: { organization_name: id } }) => ({
    organization: { data: id === null ? null : { type: 'organizations', id } },
  }),
})
export const refusalDescription = refusals.description

/** What a reader may learn. Only site administrators see the name of an outsider. */
type RefusalSight = { readonly namesOutsiders: boolean; readonly nameOf: NameOf }

export function refusalResource(row: RefusalRow, { namesOutsiders, nameOf }: RefusalSight): Resource {
  return refusals.resource({ row, isNamed: row.is_inside === 1 || namesOutsiders, nameOf })
}
