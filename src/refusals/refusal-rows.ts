import { heldColumns, columnSet, type ColumnSet, type Standing } from '../access/decide.ts'
import { neededGrants } from '../access/needed-grants.ts'
import { knownFlags } from '../access/organization-flags.ts'
import { columns } from '../access/rules.ts'
import type { Standings } from '../access/standing-store.ts'
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
import { objectOf, pathOf } from './refusal-object.ts'
import type { Named, Refusal } from './refusal.ts'
import type { NewRefusalRow } from './refusal-store.ts'

/** Who belongs to the organization, one way or another: its owners know them. */
const belongs = columnSet('OW', 'OG', 'PM', 'TT', 'IN')

/** What is stored of refusals: the organization that has the object, what the caller stood as, and what would have helped. */
export async function rowsOf(
  tx: Transaction,
  refusals: readonly Refusal[],
  standings: Standings,
  dialect: Config['dialect'],
): Promise<NewRefusalRow[]> {
  const hasSecretTeamsFlag = knownFlags(dialect).includes('access-secret-teams')
  const rows: NewRefusalRow[] = []
  for (const refusal of refusals) {
    const { actor, found, permission, reason } = refusal
    const named = JSON.parse(refusal.named) as Named
    const organization = await organizationOf(tx, refusal, named)
    const standing =
      found?.standing ??
      (organization === undefined ? undefined : await standings.in(tx, actor, organization))
    const held = standing === undefined ? 0 : heldColumns(standing, found?.target ?? {})
    const needed =
      found === undefined || permission === null || reason === 'missing'
        ? []
        : neededGrants(
            permission,
            { actor, standing: standing as Standing, target: found.target },
            {
              ...(organization === undefined
                ? {}
                : {
                    organization: {
                      hasDelegation: organization.delegated_team_management === 1,
                      hasSecretTeamsFlag,
                    },
                  }),
              ...(found.workspaceId === undefined ? {} : { workspaceId: found.workspaceId }),
              ...(found.projectId === undefined ? {} : { projectId: found.projectId }),
            },
          )
    const object = objectOf(refusal, named, organization?.name)
    rows.push({
      request_id: refusal.requestId,
      at: timestamp(refusal.at),
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
      granted_by: JSON.stringify(needed),
    })
  }
  return rows
}

/** The one that has the object; of what is nowhere, the one under whose name it was looked for. */
async function organizationOf(
  tx: Transaction,
  { found, permission, path }: Refusal,
  { params, organizationName }: Named,
): Promise<OrganizationRow | undefined> {
  let organization: OrganizationRow | undefined
  if (found !== undefined) {
    if (found.organizationId !== undefined) organization = await findOrganization(tx, found.organizationId)
  } else {
    const name =
      permission === null
        ? /^\/api\/v2\/organizations\/([^/]+)/.exec(path)?.[1]
        : (params.organization_name ?? organizationName)
    if (name !== undefined && isName(name)) organization = await findOrganizationByName(tx, name)
  }
  return organization === undefined || organization.deleted_at !== null ? undefined : organization
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
