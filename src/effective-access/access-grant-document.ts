import { Type } from 'typebox'
import { oneOf } from '../jsonapi/body.ts'
import { closedObject, resourceType } from '../jsonapi/description.ts'
import type { AccessGrantRow } from './access-grant-store.ts'
import { levelSchema } from './effective-access-document.ts'
import { actionsOn, levelOn, namesOfActions, type Held, type On } from './levels.ts'
import type { Grant } from './team-grants.ts'

/** A grant, and what it gives on the workspace or project that the question is about. */
type AccessGrant = { readonly row: AccessGrantRow; readonly grant: Grant; readonly on: On }

const heldOf = ({ grant, on }: AccessGrant): Held => grant.held[on]

/** Only of grants that the caller may see. */
export const accessGrantResource = resourceType<AccessGrant>({
  type: 'access-grants',
  id: ({ row }) => row.id,
  attributes: {
    access: [oneOf('read', 'plan', 'write', 'maintain', 'admin', 'custom'), ({ grant }) => grant.access],
    level: [levelSchema, (found) => levelOn(found.on, heldOf(found))],
    gives: [
      Type.Array(Type.String()),
      (found) => namesOfActions(found.on, actionsOn(found.on, heldOf(found))),
    ],
    team: [
      closedObject({ id: Type.String(), name: Type.String() }),
      ({ row }) => ({ id: row.team_id, name: row.team_name }),
    ],
    on: [
      closedObject({ type: oneOf('workspaces', 'projects'), id: Type.String(), name: Type.String() }),
      ({ row }) => ({ type: `${row.on}s`, id: row.place_id, name: row.place_name }),
    ],
  },
  self: ({ row }) => `/api/v2/team-${row.on}s/${row.id}`,
})
