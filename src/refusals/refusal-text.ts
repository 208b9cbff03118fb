import { parseStored } from '../core/stored-json.ts'
import type { NeededGrant } from '../access/needed-grants.ts'
import type { Column } from '../access/rules.ts'
import { permissionWords } from './permission-words.ts'
import type { RefusalRow } from './refusal-store.ts'

/** The caller's roles and grants, by column of the permission table. */
export const columnWords: Record<Column, string> = {
  SA: 'site administrator',
  OW: 'owner',
  OG: "the organization's token",
  MM: 'manage-membership',
  MT: 'manage-teams',
  MO: 'manage-organization-access',
  MW: 'manage-workspaces',
  MP: 'manage-projects',
  RO: 'read-workspaces or read-projects',
  AU: 'read-audit',
  PM: 'member',
  TM: 'member of the team',
  R: 'read or plan access',
  W: 'write access',
  A: 'admin or maintain access',
  cO: 'custom access with state-versions: read-outputs',
  cR: 'custom access with state-versions: read',
  cW: 'custom access with state-versions: write',
  cL: 'custom access with workspace-locking',
  pC: 'access that creates workspaces in the project',
  pA: 'admin access to the project',
  TT: "a team's token",
  IN: 'invited, and not yet a member',
  OUT: 'not a member',
}

export function wordsOfStanding(row: RefusalRow): string[] {
  return parseStored<Column[]>(row.standing).map((column) => columnWords[column])
}

export function grantsOf(row: RefusalRow): NeededGrant[] {
  return parseStored<NeededGrant[]>(row.granted_by)
}

/** The name of a team, workspace or project; undefined if it is gone, or if the reader may not see it. */
export type NameOf = (id: string) => string | undefined

type Words = {
  [G in NeededGrant['grant']]: (needed: Extract<NeededGrant, { grant: G }>, called: Called) => string
}
/** Name and id, as far as they are known. */
type Called = (id: string) => string

const words: Words = {
  membership: () => 'being an active member of the organization',
  owner: () => 'being an owner: a member of the team owners',
  'site-admin': () => 'being a site administrator',
  'shared-organization': () => 'being an active member of an organization that the user is in, too',
  'team-membership': ({ team }, called) => `being a member of the team ${called(team)}`,
  'allow-member-token-management': ({ team }, called) =>
    `allow-member-token-management of the team ${called(team)}, being a member of it`,
  'organization-access': (needed) =>
    `a team with the organization-level permission ${needed.flag}${orMore(needed)}`,
  'team-access': (needed, called) => {
    const places = needed.on.map(({ type, id }) => {
      const kind = type === 'workspaces' ? 'workspace' : 'project'
      return id === null ? `any ${kind}` : `the ${kind} ${called(id)}`
    })
    return `a team with access ${needed.access}${orMore(needed)} on ${places.join(' or ')}`
  },
}

/** A grant in words, to complete the sentence "This would have been enough: …". */
export function wordsOfGrant(needed: NeededGrant, nameOf: NameOf = () => undefined): string {
  const called = (id: string) => {
    const name = nameOf(id)
    return name === undefined ? id : `${name} (${id})`
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each entry takes the grant of its name
  return (words[needed.grant] as (needed: NeededGrant, called: Called) => string)(needed, called)
}

function orMore(needed: { 'or-more': boolean }): string {
  return needed['or-more'] ? ' or more' : ''
}

/** Replaces the caller's name for readers who may not learn who an outsider was. */
export const OUTSIDER = 'someone outside the organization'

/** The whole explanation in sentences. The last one says what can be done. */
export function sentencesOf(row: RefusalRow, caller: string, listed = inOneSentence): string[] {
  const when = row.count === 1 ? row.at : `${row.count} times from ${row.first_at} to ${row.at}`
  const asked = `${caller} was answered 404 to ${row.method} ${row.path} (${when}).`
  const standing = wordsOfStanding(row)
  const stoodAs = standing.length === 0 ? [] : [`The caller's role and grants were: ${standing.join(', ')}.`]
  if (row.permission === null)
    return [asked, 'There is no such endpoint here.', 'GET /api/v2/openapi.json lists the endpoints.']
  return row.reason === 'missing'
    ? [asked, whatIsMissing(row, row.permission), ...stoodAs]
    : [asked, whatIsForbidden(row, row.permission), ...stoodAs, ...waysOut(row, listed)]
}

function whatIsMissing(row: RefusalRow, permission: string): string {
  if (row.is_found === 1) {
    return `The caller may do this (${permission}), but the requested object does not exist: for example, the workspace has no state yet.`
  }
  // The organization exists, so the missing thing is another name or id in the request.
  const isOther = row.object_type === 'organizations' && row.organization_name !== null
  const what = isOther
    ? `An object that the request names does not exist in the organization ${row.organization_name}`
    : `The requested object${objectOf(row)} does not exist`
  return `${what}: no grant would help. The name or id in the request may be wrong, or the object was deleted.`
}

function whatIsForbidden(row: RefusalRow, permission: string): string {
  // An older version may have stored a permission that no longer exists.
  const act = (permissionWords as Record<string, string | undefined>)[permission] ?? 'do this'
  return `The requested object${objectOf(row)} exists, but the caller may not ${act}: the permission ${permission} is missing.`
}

function objectOf(row: RefusalRow): string {
  return row.object_type === null ? '' : ` (${[row.object_type, row.object_id].filter(Boolean).join(' ')})`
}

function inOneSentence(ways: readonly string[]): string {
  return ` ${ways.join('; ')}.`
}

function waysOut(row: RefusalRow, listed: (ways: readonly string[]) => string): string[] {
  const needed = grantsOf(row)
  if (needed.length > 0) {
    const ways = needed.map((one) => wordsOfGrant(one))
    const any = ways.length === 1 ? 'This would have been enough' : 'Any one of these would have been enough'
    const isOfTeam = needed.some(({ grant }) => grant === 'team-access' || grant === 'organization-access')
    const how =
      row.caller_type === 'teams'
        ? 'Grant it to the team.'
        : 'Grant it to a team that the caller is in, or add the caller to a team that has it.'
    return [
      `${any}:${listed(ways)}`,
      ...(isOfTeam ? [`${how} ?dry-run=true shows in advance whose access that would change.`] : []),
    ]
  }
  if (row.caller_type === 'users') return ['No grant would give this permission: only another user has it.']
  const whose = row.caller_type === 'teams' ? "this team's" : "an organization's"
  return [`No grant to ${whose} token would give this permission: use another token, for example an owner's.`]
}

export function nameOfCaller(row: RefusalRow): string {
  const kind = { users: 'The user', teams: 'The team', organizations: 'The organization' }[row.caller_type]
  return `${kind} ${row.caller_name}${row.caller_id === null || row.caller_id === row.caller_name ? '' : ` (${row.caller_id})`}`
}
