import { parseStored } from '../core/stored-json.ts'
import { createHash } from 'node:crypto'
import { asksForStrength, heldColumns, columnSet, type ColumnSet, type Target } from '../access/decide.ts'
import { withUngivable } from '../access/delegation-store.ts'
import { neededGrants, type NeededFacts } from '../access/needed-grants.ts'
import { knownFlags } from '../access/organization-flags.ts'
import { columns } from '../access/rules.ts'
import { standingOutside, type Standings } from '../access/standing-store.ts'
import type { Actor } from '../access/actor.ts'
import type { Config } from '../config.ts'
import { timestamp } from '../core/clock.ts'
import { isName } from '../core/names.ts'
import type { Transaction } from '../database/database.ts'
import {
  findOrganization,
  findOrganizationByName,
  type OrganizationRow,
} from '../organizations/organization-store.ts'
import { ownersTeam } from '../team-access/shown-teams-store.ts'
import { objectOf, pathOf } from './refusal-object.ts'
import type { Found, Named, Refusal } from './refusal.ts'
import type { NewRefusal, NewRefusalRow } from './refusal-store.ts'
import { together, type Waiting } from './waiting-refusals.ts'

type Described = Omit<NewRefusalRow, 'request_id' | 'at' | 'first_at' | 'count' | 'alike' | 'is_shared'>

/** Columns of callers who belong to the organization, so its owners know them. An invited user does not belong yet. */
const belongs = columnSet('OW', 'OG', 'PM', 'TT')

const standIn: NeededFacts = {
  organization: { hasDelegation: false, hasSecretTeamsFlag: false },
  workspaceId: '',
  projectId: '',
}

/** The rows for refusals: the organization, the caller's roles and grants, and the grants that would have helped. */
export async function rowsOf(
  tx: Transaction,
  waiting: readonly Waiting[],
  standings: Standings,
  dialect: Config['dialect'],
): Promise<NewRefusal[]> {
  const hasSecretTeamsFlag = knownFlags(dialect).includes('access-secret-teams')
  /** Refusals come in bursts, so each organization is read once for all of them. */
  const organizations = new Map<string, OrganizationRow | undefined>()
  const rows = new Map<string, { row: Described; waiting: Waiting }>()
  for (const one of waiting) {
    const { refusal } = one
    const { actor, found, permission, reason } = refusal
    const named = parseStored<Named>(refusal.named)
    const organization = await organizationOf(tx, refusal, named, organizations)
    const standing =
      found?.standing ??
      (organization === undefined ? standingOutside(actor) : await standings.in(tx, actor, organization))
    const held =
      found === undefined && organization === undefined
        ? standing.columns & columnSet('SA')
        : heldColumns(standing, found?.target ?? {})
    // Computed for missing objects too: otherwise the load after many refusals would tell missing from forbidden ones.
    const needed = neededGrants(
      permission ?? 'organization:manage',
      { actor, standing, target: await wholeTarget(tx, refusal) },
      found === undefined ? standIn : factsOf(found, organization, hasSecretTeamsFlag),
    )
    const object = objectOf(refusal, named, organization?.name)
    const row: Described = {
      organization_id: organization?.id ?? null,
      method: refusal.method,
      path: pathOf(refusal, named),
      permission,
      reason,
      is_found: found === undefined ? 0 : 1,
      object_type: object?.type ?? null,
      object_id: object?.id ?? null,
      ...callerOf(actor),
      is_inside: organization !== undefined && (held & belongs) !== 0 ? 1 : 0,
      standing: JSON.stringify(columnsIn(held)),
      granted_by: JSON.stringify(reason === 'forbidden' ? needed : []),
    }
    const { caller_name: _, ...rest } = row
    const alike = createHash('sha256').update(JSON.stringify(rest)).digest('base64url')
    // Requests that differ only in their bodies can give equal rows: count them together.
    const before = rows.get(alike)
    rows.set(alike, { row, waiting: before === undefined ? one : together(before.waiting, one) })
  }
  return Array.from(rows, ([alike, { row, waiting: one }]) => ({
    row: {
      ...row,
      is_shared: row.is_inside === 0 && (row.organization_id !== null || row.caller_type !== 'users') ? 1 : 0,
      alike,
      request_id: one.refusal.requestId,
      at: timestamp(one.refusal.at),
      first_at: timestamp(one.firstAt),
      count: one.count,
    },
    requests: one.requests.map(({ id, at }) => ({ id, at: timestamp(at) })),
  }))
}

const missingTeam = { ...ownersTeam, isOwners: false }

/** The target that was judged, plus the team grants that would count if the caller were a delegate. */
async function wholeTarget(tx: Transaction, { actor, found, permission }: Refusal): Promise<Target> {
  if (permission === null || actor.userId === null || !asksForStrength(permission)) {
    return found?.target ?? { grants: 0 }
  }
  const { team, teamsOfUser = [] } = found?.target ?? {}
  const teams = team === undefined ? teamsOfUser : [team]
  // Read for missing objects too, for the same reason as above.
  const whole = await withUngivable(tx, actor.userId, teams.length === 0 ? [missingTeam] : teams)
  if (found === undefined) return { grants: 0 }
  if (team !== undefined) return { ...found.target, team: whole[0] }
  return teams.length === 0 ? found.target : { ...found.target, teamsOfUser: whole }
}

function factsOf(
  { workspaceId, projectId }: Found,
  organization: OrganizationRow | undefined,
  hasSecretTeamsFlag: boolean,
): NeededFacts {
  const hasDelegation = organization?.delegated_team_management === 1
  return { organization: organization && { hasDelegation, hasSecretTeamsFlag }, workspaceId, projectId }
}

/** The organization that owns the object. If the object does not exist: the one named in the request. */
async function organizationOf(
  tx: Transaction,
  { found, permission, path }: Refusal,
  { params, organizationName }: Named,
  known: Map<string, OrganizationRow | undefined>,
): Promise<OrganizationRow | undefined> {
  const name =
    permission === null
      ? /^\/api\/v2\/organizations\/([^/]+)/.exec(path)?.[1]
      : (params.organization_name ?? organizationName)
  const key = found === undefined ? name : found.organizationId
  const kept = found === undefined ? `name ${key}` : `id ${key}`
  if (key === undefined || (found === undefined && !isName(key))) return undefined
  if (!known.has(kept)) {
    const row = await (found === undefined ? findOrganizationByName(tx, key) : findOrganization(tx, key))
    known.set(kept, row === undefined || row.deleted_at !== null ? undefined : row)
  }
  return known.get(kept)
}

function callerOf(actor: Actor): Pick<NewRefusalRow, 'caller_type' | 'caller_id' | 'caller_name'> {
  const { name } = actor
  if (actor.kind === 'user') return { caller_type: 'users', caller_id: actor.userId, caller_name: name }
  if (actor.kind === 'team') return { caller_type: 'teams', caller_id: actor.teamId, caller_name: name }
  return { caller_type: 'organizations', caller_id: name, caller_name: name }
}

function columnsIn(set: ColumnSet): string[] {
  return columns.filter((column) => (set & columnSet(column)) !== 0)
}
