import type { Actor } from '../access/actor.ts'
import { nowhere } from '../access/standing.ts'
import type { Transaction } from '../database/database.ts'
import { isName } from '../core/names.ts'
import type { Call } from '../http/call.ts'
import type { Deps } from '../http/deps.ts'
import { findOrganizationByName } from './organization-store.ts'

/** Undefined for what no organization can be called. */
export function organizationOfPath(call: Call): string | undefined {
  const name = call.params.organization_name as string
  return isName(name) ? name : undefined
}

export async function loadOrganization(tx: Transaction, name: string) {
  const organization = await findOrganizationByName(tx, name)
  return organization === undefined ? undefined : { organization, target: {} }
}

/** With what the caller holds on any workspace or project in it: a list is for him who holds something. */
export async function loadOrganizationWithGrants(
  { tx, actor, deps }: { tx: Transaction; actor: Actor; deps: Deps },
  name: string,
) {
  const organization = await findOrganizationByName(tx, name)
  const grants = await deps.grants.anywhere(tx, actor, organization ?? nowhere)
  return organization === undefined ? undefined : { organization, target: { grants } }
}
