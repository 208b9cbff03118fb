import { doneAll } from '../http/outcome.ts'
import { read } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { document } from '../jsonapi/document.ts'
import { deleteOrganizationToken, deleteTeamToken, deleteUserToken } from './token-deletion.ts'
import { tokenFragment, viewerOf } from './token-document.ts'
import { tokenPlace } from './token-place.ts'

export const tokenRoutes: readonly Route[] = [
  read(tokenPlace, '', {
    permission: 'user:tokens',
    summary: 'Show a token',
    answers: 'authentication-tokens',
    document: async (context) => document(tokenFragment(context.resource.token, await viewerOf(context))),
  }),

  write(tokenPlace, '', {
    method: 'DELETE',
    status: 204,
    permission: 'user:tokens',
    summary: 'Delete a token',
    act: async ({ tx, resource: { token, team, organization } }) => {
      if (organization === undefined) return doneAll(token, [await deleteUserToken(tx, token)])
      if (team !== undefined) return doneAll(token, [await deleteTeamToken(tx, token, team, organization)])
      const event = await deleteOrganizationToken(tx, token, organization)
      return { ...doneAll(token, [event]), keepsAccess: true }
    },
  }),
]
