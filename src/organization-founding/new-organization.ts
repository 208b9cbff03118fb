import type { AuditEvent } from '../audit/audit-store.ts'
import type { Config } from '../config.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, invalidBy, type Problem } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { readResource } from '../jsonapi/body.ts'
import {
  echoedOf,
  NAME_IS_TAKEN,
  newOrganizationBody,
  rulingColumns,
} from '../organizations/organization-attributes.ts'
import { addProblemOfName } from '../organizations/organization-names.ts'
import { countOrganizationsOf, type OrganizationRow } from '../organizations/organization-store.ts'
import { lockUser } from '../users/user-store.ts'
import { createOrganization } from './create-organization.ts'

/** The attributes of a new organization as the request gives them, and the problems found in them. */
type NewOrganizationRequest = ReturnType<typeof readNewOrganization>

export function readNewOrganization(bytes: Uint8Array) {
  return readResource(bytes, newOrganizationBody)
}

/** Adds the problems that only the database shows: an owner who is in too many organizations, and a taken name. */
export async function addProblemsOfNewOrganization(
  tx: Transaction,
  { maxOrganizations }: Config,
  ownerId: string,
  { attributes }: NewOrganizationRequest,
  problems: Problem[],
): Promise<void> {
  // The user was deleted a moment ago, and their token with them.
  if ((await lockUser(tx, ownerId)) === undefined) throw new AppError('unauthorized')
  if ((await countOrganizationsOf(tx, ownerId)) >= maxOrganizations) {
    problems.push({
      detail: `a user who is in ${maxOrganizations} organizations cannot create another one (PURSER_MAX_ORGANIZATIONS)`,
      pointer: '/data',
    })
  }
  await addProblemOfName(tx, problems, attributes.name)
}

/** Creates the organization of a request, with a user as its first owner. Throws 422 for a taken name. */
export async function createRequestedOrganization(
  tx: Transaction,
  deps: Pick<Deps, 'newId' | 'clock'>,
  ownerId: string,
  { attributes }: NewOrganizationRequest,
): Promise<{ organization: OrganizationRow; event: AuditEvent }> {
  const { name, email } = attributes
  const organization = await createOrganization(tx, deps.newId, {
    name,
    email,
    ruling: rulingColumns(attributes),
    settings: echoedOf(attributes),
    ownerId,
    at: timestamp(deps.clock.now()),
  })
  if (organization === undefined) throw invalidBy(NAME_IS_TAKEN)
  const { id } = organization
  return {
    organization,
    event: {
      action: 'organization.create',
      organizationId: id,
      resourceType: 'organizations',
      resourceId: id,
      details: { name },
    },
  }
}
