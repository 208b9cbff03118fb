import type { Config } from '../config.ts'
import { makeOrganization, parseNewOrganization } from '../organizations/new-organization.ts'
import { auditOperator, operatorDeps, withDatabase } from './database.ts'
import { bodyOf } from './parse.ts'
import { userNamed } from './users.ts'

export async function createOrganization(
  config: Config,
  { name, email, owner }: { name: string; email: string; owner: string },
) {
  const body = parseNewOrganization(bodyOf('organizations', { name, email }))
  return withDatabase(config, ({ database }) =>
    database.write(async (tx) => {
      const user = await userNamed(tx, owner)
      const { id, event } = await makeOrganization(tx, { ...operatorDeps, config }, user.id, body)
      await auditOperator(tx, [event])
      return { id, name, email, owner: user.username }
    }),
  )
}
