import { verifyAuditTrail } from '../audit/audit-verify.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { operatorAuditKey, withDatabase } from './database.ts'
import { print, printJson } from './output.ts'

/** Prints that the audit trail is what was written; ends with 1 and the first event that is not. */
export async function printVerdict(config: Config, asJson: boolean): Promise<void> {
  const { events, chains, adopted, problem, organization } = await withDatabase(config, ({ database }) =>
    database.read(async (tx) => {
      const verdict = await verifyAuditTrail(tx, await operatorAuditKey(tx, config))
      const id = verdict.problem?.organizationId ?? null
      return { ...verdict, organization: id === null ? undefined : await findOrganization(tx, id) }
    }),
  )
  if (asJson) {
    const found = problem && {
      detail: problem.detail,
      organization: problem.organizationId && {
        id: problem.organizationId,
        name: organization?.name ?? null,
      },
      position: problem.position,
      number: problem.number,
    }
    printJson({ intact: problem === undefined, events, trails: chains, adopted, problem: found ?? null })
    if (problem !== undefined) process.exitCode = 1
    return
  }
  if (problem !== undefined) {
    const name = organization === undefined ? '' : `; that is the organization ${organization.name}`
    throw new OperatorError(`the audit trail is not intact: ${problem.detail}${name}`)
  }
  const older =
    adopted === 0
      ? ''
      : `; ${adopted} of them are older than the chain, and were chained at the upgrade as they stood then`
  print(`intact: ${events} events in ${chains} trails${older}`)
}
