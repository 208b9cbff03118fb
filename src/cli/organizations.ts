import type { Config } from '../config.ts'
import { timestamp } from '../core/clock.ts'
import type { Problem } from '../core/errors.ts'
import { bumpVersion, updateOrganization } from '../organizations/organization-store.ts'
import {
  addProblemsOfNewOrganization,
  createRequestedOrganization,
  readNewOrganization,
} from '../organization-founding/new-organization.ts'
import { refuse } from '../jsonapi/body.ts'
import { auditOperator, operatorDeps, writeDatabase } from '../operation/command-database.ts'
import { organizationNamed, userNamed } from './named.ts'
import { bodyOf } from './parse.ts'

export async function createOrganization(
  config: Config,
  { name, email, owner }: { name: string; email: string; owner: string },
) {
  const body = readNewOrganization(bodyOf('organizations', { name, email }))
  // Report these first: opening the database may fail for another reason.
  refuse(body.problems)
  return writeDatabase(config, async (tx) => {
    const user = await userNamed(tx, owner)
    const problems: Problem[] = []
    await addProblemsOfNewOrganization(tx, config, user.id, body, problems)
    refuse(problems)
    const { organization, event } = await createRequestedOrganization(tx, operatorDeps, user.id, body)
    await auditOperator(tx, config, event)
    return { id: organization.id, name, email, owner: user.username }
  })
}

/** For owners who have locked themselves out. */
export async function allowUserTokens(config: Config, name: string): Promise<void> {
  await writeDatabase(config, async (tx) => {
    const organization = await organizationNamed(tx, name)
    await updateOrganization(tx, organization.id, {
      user_tokens_enabled: 1,
      updated_at: timestamp(operatorDeps.clock.now()),
    })
    await bumpVersion(tx, organization.id)
    await auditOperator(tx, config, {
      action: 'organization.update',
      organizationId: organization.id,
      resourceType: 'organizations',
      resourceId: organization.id,
      details: { name, changes: { 'user-tokens-enabled': true } },
    })
  })
}
