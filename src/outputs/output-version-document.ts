import { Type } from 'typebox'
import { nullable, resourceType, timeSchema } from '../jsonapi/description.ts'
import {
  statuses,
  unreadableOutputs,
  unreadableReasons,
  type StateVersionRow,
} from '../state-versions/state-version-store.ts'

/** A state version for those who may read its outputs and not its state: nothing of resources, and no download. */
const outputVersions = resourceType<{ readonly row: StateVersionRow; readonly creator: string | undefined }>({
  type: 'output-versions',
  id: ({ row }) => row.id,
  attributes: {
    serial: [Type.Integer(), ({ row }) => row.serial],
    'created-at': [timeSchema, ({ row }) => row.created_at],
    'created-by-name': [nullable(Type.String()), ({ creator }) => creator ?? null],
    status: [Type.Union(statuses.map((status) => Type.Literal(status))), ({ row }) => row.status],
    'outputs-unreadable-reason': [
      nullable(Type.Union(unreadableReasons.map((reason) => Type.Literal(reason)))),
      ({ row }) => unreadableOutputs(row),
    ],
  },
})
export const outputVersionDescription = outputVersions.description
export const outputVersionFragment = outputVersions.fragment
