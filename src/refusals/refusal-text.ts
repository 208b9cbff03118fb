import type { NeededGrant } from '../access/needed-grants.ts'
import type { Column } from '../access/rules.ts'
import type { RefusalRow } from './refusal-store.ts'

/** What a caller stood as and held, by the columns of the table. */
const columnWords: Record<Column, string> = {
  SA: 'site administrator',
  OW: 'owner',
  OG: "the organization's token",
  MM: 'manage-membership',
  MT: 'manage-teams',
  MO: 'manage-organization-access',
  MW: 'manage-workspaces',
  MP: 'manage-projects',
  RO: 'read-workspaces or read-projects',
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
  return (JSON.parse(row.standing) as Column[]).map((column) => columnWords[column])
}

export function grantsOf(row: RefusalRow): NeededGrant[] {
  return JSON.parse(row.granted_by) as NeededGrant[]
}

type Words = { [G in NeededGrant['grant']]: (needed: Extract<NeededGrant, { grant: G }>) => string }

const words: Words = {
  membership: () => 'being an active member of the organization',
  owner: () => 'being an owner: a member of the team owners',
  'site-admin': () => 'being a site administrator',
  'shared-organization': () => 'being an active member of an organization that the user is in, too',
  'team-membership': ({ team }) => `being a member of the team ${team}`,
  'allow-member-token-management': ({ team }) =>
    `allow-member-token-management of the team ${team}, being a member of it`,
  'organization-access': (needed) =>
    `a team with the organization-level permission ${needed.flag}${orMore(needed)}`,
  'team-access': (needed) => {
    const places = needed.on.map(({ type, id }) => {
      const kind = type === 'workspaces' ? 'workspace' : 'project'
      return id === null ? `any ${kind}` : `the ${kind} ${id}`
    })
    return `a team with access ${needed.access}${orMore(needed)} on ${places.join(' or ')}`
  },
}

/** A grant in words, to end a sentence with: "This would have been enough: …". */
export function wordsOfGrant(needed: NeededGrant): string {
  return (words[needed.grant] as (needed: NeededGrant) => string)(needed)
}

function orMore(needed: { 'or-more': boolean }): string {
  return needed['or-more'] ? ' or more' : ''
}

/** What is said of the caller to whom may not know who it was. */
export const OUTSIDER = 'someone outside the organization'

/** The whole of it in sentences. */
export function sentencesOf(row: RefusalRow, caller: string): string[] {
  const asked = `${caller} was answered 404 to ${row.method} ${row.path} (${row.at}).`
  const needed = grantsOf(row)
  const standing = wordsOfStanding(row)
  const stoodAs = standing.length === 0 ? [] : [`The caller stood as: ${standing.join(', ')}.`]
  if (row.permission === null) return [asked, 'There is no such endpoint here.']
  const object =
    row.object_type === null ? '' : ` (${[row.object_type, row.object_id].filter(Boolean).join(' ')})`
  if (row.reason === 'missing') {
    const missing =
      row.is_found === 1
        ? `The caller may do this (${row.permission}), but what was asked for is not there: for example a state where there is none yet.`
        : `What was addressed${object} does not exist: no grant would help.`
    return [asked, missing, ...stoodAs]
  }
  const missing = `What was addressed${object} is there, but the caller lacks the permission ${row.permission}.`
  if (needed.length === 0) {
    const nothing =
      row.caller_type === 'users'
        ? 'Nothing that can be granted would give it: it is for somebody else alone.'
        : `Nothing that can be granted to ${row.caller_type === 'teams' ? "this team's" : "an organization's"} token would give it: another token is needed.`
    return [asked, missing, ...stoodAs, nothing]
  }
  return [
    asked,
    missing,
    ...stoodAs,
    `Any one of these would have given it: ${needed.map(wordsOfGrant).join('; ')}.`,
  ]
}

export function nameOfCaller(row: RefusalRow): string {
  const kind = { users: 'The user', teams: 'The team', organizations: 'The organization' }[row.caller_type]
  return `${kind} ${row.caller_name}${row.caller_id === null || row.caller_id === row.caller_name ? '' : ` (${row.caller_id})`}`
}
