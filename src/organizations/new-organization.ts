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

/** The attributes of a new organization as the request gives them, and the problems found in them. */
export type NewOrganizationRequest = ReturnType<typeof readNewOrganization>

export function readNewOrganization(bytes: Uint8Array) {
  const { attributes, problems } = readResource(bytes, newOrganizationBody)
  return { attributes, problems }
}

/**
 * Creates the organization of a request, with a user as its first owner. Throws one 422 for all problems: those of the
 * request, a taken name, and an owner who is in too many organizations.
 */
export async function makeOrganization(
  tx: Transaction,
  deps: Pick<Deps, 'newId' | 'clock'> & { config: Config },
  ownerId: string,
  { attributes, problems: given }: NewOrganizationRequest,
): Promise<{ id: string; event: AuditEvent }> {
  // The user was deleted a moment ago, and their token with them.
  if ((await lockUser(tx, ownerId)) === undefined) throw new AppError('unauthorized')
  const { maxOrganizations } = deps.config
  // Copied, because the transaction may run again and must not add to the same list twice.
  const problems = [...given]
  if ((await countOrganizationsOf(tx, ownerId)) >= maxOrganizations) {
    problems.push({
      detail: `a user who is in ${maxOrganizations} organizations cannot create another one (PURSER_MAX_ORGANIZATIONS)`,
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

/** Throws one 422 for these problems and a taken name. A taken name alone shows later, when the row is written. */
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
