import type { Problem } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { NAME_IS_TAKEN } from './organization-attributes.ts'
import { findOrganizationsNamedLike, lockOrganizationName } from './organization-store.ts'

const DIFFERS_ONLY_BY_CASE: Problem = {
  detail: 'name differs from that of another organization only by upper and lower case',
  pointer: '/data/attributes/name',
}

/**
 * Adds a problem if another organization has the name, in any case. Until the transaction ends, nobody else can take it.
 *
 * @param name undefined: none is given
 * @param own the organization that may keep its name, even if one from before this rule differs from it only by case
 */
export async function addProblemOfName(
  tx: Transaction,
  problems: Problem[],
  name: string | undefined,
  own?: { readonly id: string; readonly name: string },
): Promise<void> {
  if (name === undefined || name === own?.name) return
  await lockOrganizationName(tx, name)
  const holders = (await findOrganizationsNamedLike(tx, name)).filter(({ id }) => id !== own?.id)
  if (holders.length === 0) return
  problems.push(holders.some((holder) => holder.name === name) ? NAME_IS_TAKEN : DIFFERS_ONLY_BY_CASE)
}
