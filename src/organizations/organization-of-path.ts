import type { Transaction } from '../database/database.ts'
import { isName } from '../core/names.ts'
import type { Call } from '../http/call.ts'
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
