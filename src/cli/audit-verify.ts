import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { verifyAuditTrail, type SeenEnds } from '../audit/audit-verify.ts'
import type { Config } from '../config.ts'
import { systemClock, timeAfter } from '../core/clock.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { operatorAuditKey, readDatabase } from '../operation/command-database.ts'
import { print, printJson } from './output.ts'

const DAY_MS = 86_400_000

/** Prints whether the audit trail is intact. If not, prints the first event that is wrong and exits with 1. */
export async function printVerdict(config: Config, asJson: boolean, seenFile?: string): Promise<void> {
  const seen = seenFile === undefined ? undefined : seenIn(seenFile, config)
  const { events, chains, ends, problem, organization } = await readDatabase(
    config,
    async (tx) => {
      const verdict = await verifyAuditTrail(tx, await operatorAuditKey(tx, config), seen)
      const id = verdict.problem?.organizationId ?? null
      return { ...verdict, organization: id === null ? undefined : await findOrganization(tx, id) }
    },
    { isLong: true },
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
    printJson({
      intact: problem === undefined,
      events,
      trails: chains,
      problem: found ?? null,
      ends: problem === undefined ? ends : undefined,
    })
    if (problem !== undefined) process.exitCode = 1
    return
  }
  if (problem !== undefined) {
    const name = organization === undefined ? '' : `; that is the organization ${organization.name}`
    throw new OperatorError(`the audit trail is not intact: ${problem.detail}${name}`)
  }
  print(`intact: ${events} events in ${chains} trails`)
}

const verdictSchema = Compile(
  Type.Object({
    ends: Type.Array(
      Type.Object({
        organization: Type.Union([Type.String(), Type.Null()]),
        position: Type.Integer(),
        at: Type.String(),
        mac: Type.String(),
      }),
    ),
  }),
)

/** Reads a file that holds earlier output of `purser audit verify --json`. */
function seenIn(file: string, config: Config): SeenEnds {
  let found: unknown
  try {
    found = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    // Invalid JSON is refused below, like any other text that is no verdict.
    if (!(error instanceof SyntaxError)) throw new OperatorError(`cannot read ${file}: ${reasonOf(error)}`)
  }
  if (!verdictSchema.Check(found)) {
    throw new OperatorError(
      `${file} is not the output of audit verify --json for an intact trail (to print nothing else, npm needs --silent: npm run --silent purser -- …)`,
    )
  }
  const keptSince = timeAfter(systemClock.now(), -config.auditDays * DAY_MS)
  return { ends: found.ends, keptSince }
}
