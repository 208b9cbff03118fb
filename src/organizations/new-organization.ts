import type { AuditEvent } from '../audit/audit-store.ts'
import type { Config } from '../config.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, type Problem } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { readResource, refuseBesideTakenName } from '../jsonapi/body.ts'
import { lockUser } from '../users/user-store.ts'
import { echoedOf, newOrganizationBody, rulingColumns } from './organization-attributes.ts'
import { countOrganizationsOf, findOrganizationByName } from './organization-store.ts'
import { createOrganization } from './organizations.ts'

export const NAME_IS_TAKEN: Problem = {
  detail: 'name is that of another organization',
  pointer: '/data/attributes/name',
}

/** What a request asks of a new organization, and what is wrong with that. */
export type NewOrganizationRequest = ReturnType<typeof readNewOrganization>

export function readNewOrganization(bytes: Uint8Array) {
  const { attributes, problems } = readResource(bytes, newOrganizationBody)
  return { attributes, problems }
}

/**
 * Makes what a request asks for, with a user as its first owner. Throws one 422 for what is wrong with the request, a
 * taken name and one too many.
 */
export async function makeOrganization(
  tx: Transaction,
  deps: Pick<Deps, 'newId' | 'clock'> & { config: Config },
  ownerId: string,
  { attributes, problems: given }: NewOrganizationRequest,
): Promise<{ id: string; event: AuditEvent }> {
  // Deleted this moment, and his token with him.
  if ((await lockUser(tx, ownerId)) === undefined) throw new AppError('unauthorized')
  const { maxOrganizations } = deps.config
  // A transaction may be tried again: what was given stays as it is.
  const problems = [...given]
  if ((await countOrganizationsOf(tx, ownerId)) >= maxOrganizations) {
    problems.push({
      detail: `whoever is in ${maxOrganizations} organizations cannot make another (PURSER_MAX_ORGANIZATIONS)`,
      pointer: '/data',
    })
  }
  const name = attributes.name as string
  await refuseOrganization(tx, attributes.name, problems)
  const made = await createOrganization(tx, deps.newId, {
    name,
    email: attributes.email as string,
    ruling: rulingColumns(attributes),
    settings: echoedOf(attributes),
    ownerId,
    at: timestamp(deps.clock.now()),
  })
  if (made === undefined) throw new AppError('invalid', [NAME_IS_TAKEN])
  return {
    id: made.id,
    event: {
      action: 'organization.create',
      organizationId: made.id,
      resourceType: 'organizations',
      resourceId: made.id,
      details: { name },
    },
  }
}

/** 422 for these problems, with that of a name which is another's; by itself that one shows when it is written. */
export async function refuseOrganization(
  tx: Transaction,
  name: string | undefined,
  problems: readonly Problem[],
  ownId?: string,
): Promise<void> {
  const findHolder = async () =>
    name === undefined ? undefined : (await findOrganizationByName(tx, name))?.id
  await refuseBesideTakenName(problems, NAME_IS_TAKEN, findHolder, ownId)
}
