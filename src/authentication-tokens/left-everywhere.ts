import type { AuditEvent } from '../audit/audit-store.ts'
import type { Transaction } from '../database/database.ts'
import type { Viewer } from '../http/route.ts'
import {
  bumpVersion,
  findOrganization,
  lockOrganization,
  type OrganizationRow,
} from '../organizations/organization-store.ts'
import { findOrganizationsOfSeenTokens } from './handed-out-store.ts'
import { endLeftTokens, leftTokensOf, type LeftToken } from './handed-out.ts'

export type LeftIn = { readonly organization: OrganizationRow; readonly left: readonly LeftToken[] }

/** What a user has made or seen in all organizations, as far as the caller may end it. */
export async function leftTokensEverywhere(viewer: Viewer, userId: string): Promise<LeftIn[]> {
  const { tx, actor, deps } = viewer
  const found: LeftIn[] = []
  for (const id of await findOrganizationsOfSeenTokens(tx, userId)) {
    const organization = await findOrganization(tx, id)
    if (organization === undefined || organization.deleted_at !== null) continue
    const standing = await deps.standings.in(tx, actor, organization)
    found.push({ organization, left: await leftTokensOf({ tx, actor, standing }, organization, userId) })
  }
  return found
}

/**
 * Locks organizations until this write ends, in the order of their ids: these, and those of the tokens that a user has made or
 * seen. Users come after organizations, as in all writes.
 */
export async function lockOrganizationsOfSeen(
  tx: Transaction,
  userId: string,
  others: readonly string[] = [],
): Promise<Set<string>> {
  const ids = new Set([...others, ...(await findOrganizationsOfSeenTokens(tx, userId))])
  for (const id of [...ids].toSorted()) await lockOrganization(tx, id)
  return ids
}

/** Ends them, in organizations that are locked. Throws 422 if there are too many in one. */
export async function endLeftTokensEverywhere(viewer: Viewer, userId: string): Promise<AuditEvent[]> {
  const events: AuditEvent[] = []
  for (const { organization, left } of await leftTokensEverywhere(viewer, userId)) {
    const ended = await endLeftTokens(viewer.tx, organization, left)
    if (ended.length > 0) await bumpVersion(viewer.tx, organization.id)
    events.push(...ended)
  }
  return events
}
