import type { Actor } from '../access/actor.ts'
import { nowhere } from '../access/standing.ts'
import type { Transaction } from '../database/database.ts'
import { isName } from '../core/names.ts'
import type { Call } from '../http/call.ts'
import type { Deps } from '../http/deps.ts'
import { findOrganizationByName } from './organization-store.ts'

/** Undefined if the text cannot be the name of an organization. */
export function organizationOfPath(call: Call): string | undefined {
  const name = call.params.organization_name as string
  return isName(name) ? name : undefined
}

export async function loadOrganization(tx: Transaction, name: string) {
  const organization = await findOrganizationByName(tx, name)
  return organization === undefined ? undefined : { organization, target: {} }
}

/** Also loads the caller's grants on any workspace or project, because only callers with a grant may list. */
export async function loadOrganizationWithGrants(
  { tx, actor, deps }: { tx: Transaction; actor: Actor; deps: Deps },
  name: string,
) {
  const organization = await findOrganizationByName(tx, name)
  const grants = await deps.grants.anywhere(tx, actor, organization ?? nowhere)
  return organization === undefined ? undefined : { organization, target: { grants } }
}
