import { OperatorError } from '../core/operator-error.ts'
import type { Transaction } from '../database/database.ts'
import { findOrganizationByName, type OrganizationRow } from '../organizations/organization-store.ts'
import { findUserByUsername, type UserRow } from '../users/user-store.ts'
import { keyOf } from '../users/users.ts'

export async function organizationNamed(tx: Transaction, name: string): Promise<OrganizationRow> {
  const organization = await findOrganizationByName(tx, name)
  if (organization === undefined) throw new OperatorError(`there is no organization ${name}`)
  return organization
}

export async function userNamed(tx: Transaction, username: string): Promise<UserRow> {
  const user = await findUserByUsername(tx, keyOf(username))
  if (user === undefined) throw new OperatorError(`there is no user ${username}`)
  return user
}
