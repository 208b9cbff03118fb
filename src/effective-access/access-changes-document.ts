import { Type } from 'typebox'
import { oneOf } from '../jsonapi/body.ts'
import { closedObject, nullable, type ResourceDescription } from '../jsonapi/description.ts'
import { document, fragment } from '../jsonapi/document.ts'
import { levelSchema } from './effective-access-document.ts'
import type { LevelName } from './levels.ts'

export type AccessChange = {
  who: { type: 'users' | 'teams'; id: string; name: string }
  on: { type: 'organizations' | 'workspaces' | 'projects'; id: string; name: string }
  /** Only for a workspace or project. */
  from?: LevelName
  to?: LevelName
  /** Actions on the workspace or project, or permissions in the organization. */
  gained: string[]
  lost: string[]
}

/** A token of a team or an organization that stays valid although somebody who knows it leaves. */
export type KeptToken = {
  id: string
  kind: 'team' | 'organization' | 'audit-trails'
  /** The name of the organization. */
  organization: string
  /** The name of the team whose token it is. */
  team: string | null
  description: string | null
}

export type KeptTokens = { readonly tokens: readonly KeptToken[]; readonly 'tokens-truncated': boolean }

/** Totals: all changes, all users and teams concerned, and all workspaces and projects that the caller sees. */
type Counts = Record<
  'changes-count' | 'who-count' | 'who-looked-at' | 'places-count' | 'places-looked-at',
  number
>

const named = (type: ReturnType<typeof oneOf>) =>
  closedObject({ type, id: Type.String(), name: Type.String() })

export const accessChangesDescription: ResourceDescription = {
  type: 'access-changes',
  attributes: {
    truncated: Type.Boolean(),
    'changes-count': Type.Integer(),
    'who-count': Type.Integer(),
    'who-looked-at': Type.Integer(),
    'places-count': Type.Integer(),
    'places-looked-at': Type.Integer(),
    changes: Type.Array(
      closedObject({
        who: named(oneOf('users', 'teams')),
        on: named(oneOf('organizations', 'workspaces', 'projects')),
        from: Type.Optional(levelSchema),
        to: Type.Optional(levelSchema),
        gained: Type.Array(Type.String()),
        lost: Type.Array(Type.String()),
      }),
    ),
    // Only where somebody leaves.
    tokens: Type.Optional(
      Type.Array(
        closedObject({
          id: Type.String(),
          kind: oneOf('team', 'organization', 'audit-trails'),
          organization: Type.String(),
          team: nullable(Type.String()),
          description: nullable(Type.String()),
        }),
      ),
    ),
    'tokens-truncated': Type.Optional(Type.Boolean()),
  },
}

/** The only function that builds `"type": "access-changes"`. */
export function accessChangesDocument(
  id: string,
  counts: Counts,
  changes: readonly AccessChange[],
  tokens: KeptTokens | undefined,
): string {
  return document(
    fragment({
      id,
      type: 'access-changes',
      attributes: {
        // Also true if someone or some place was not examined, because their access may change, too.
        truncated:
          changes.length < counts['changes-count'] ||
          counts['who-looked-at'] < counts['who-count'] ||
          counts['places-looked-at'] < counts['places-count'],
        ...counts,
        changes,
        ...tokens,
      },
    }),
  )
}
