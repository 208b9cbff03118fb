import type { AuditEvent } from '../audit/audit-store.ts'
import type { Config } from '../config.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, invalid } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { parseResource } from '../jsonapi/body.ts'
import { lockUser } from '../users/user-store.ts'
import { echoedOf, newOrganizationBody } from './organization-attributes.ts'
import { countOrganizationsOf } from './organization-store.ts'
import { createOrganization } from './organizations.ts'

export const NAME_IS_TAKEN = 'name is that of another organization'

type NewOrganizationAttributes = ReturnType<typeof parseNewOrganization>

/** Throws 422 for what a new organization cannot be. */
export function parseNewOrganization(bytes: Uint8Array) {
  return parseResource(bytes, newOrganizationBody).attributes
}

/** Makes what a request asks for, with a user as its first owner. Throws 422 for a taken name or one too many. */
export async function makeOrganization(
  tx: Transaction,
  deps: Pick<Deps, 'newId' | 'clock'> & { config: Config },
  ownerId: string,
  body: NewOrganizationAttributes,
): Promise<{ id: string; event: AuditEvent }> {
  // Deleted this moment, and his token with him.
  if ((await lockUser(tx, ownerId)) === undefined) throw new AppError('unauthorized')
  const { maxOrganizations } = deps.config
  if ((await countOrganizationsOf(tx, ownerId)) >= maxOrganizations) {
    throw invalid(
      `whoever is in ${maxOrganizations} organizations cannot make another (PURSER_MAX_ORGANIZATIONS)`,
      '/data',
    )
  }
  const made = await createOrganization(tx, deps.newId, {
    name: body.name as string,
    email: body.email as string,
    delegatedTeamManagement: body['delegated-team-management'] === true,
    settings: echoedOf(body),
    ownerId,
    at: timestamp(deps.clock.now()),
  })
  if (made === undefined) throw invalid(NAME_IS_TAKEN, '/data/attributes/name')
  return {
    id: made.id,
    event: {
      action: 'organization.create',
      organizationId: made.id,
      resourceType: 'organizations',
      resourceId: made.id,
      details: { name: body.name },
    },
  }
}
