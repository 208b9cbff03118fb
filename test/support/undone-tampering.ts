import { verifyAuditTrail, type AuditVerdict, type SeenEnds } from '../../src/audit/audit-verify.ts'
import type { Transaction } from '../../src/database/database.ts'
import type { TestServer } from './server.ts'

class Undone extends Error {
  readonly verdict: AuditVerdict
  constructor(verdict: AuditVerdict) {
    super('undone')
    this.verdict = verdict
  }
}

/** The result of `purser audit verify` after a change in the database. The change is then rolled back. */
export async function verdictAfter(
  server: TestServer,
  tamper: (tx: Transaction) => Promise<unknown>,
  seen?: SeenEnds,
): Promise<AuditVerdict> {
  const { database, auditKey } = server.app.deps
  try {
    await database.write(async (tx) => {
      await tamper(tx)
      throw new Undone(await verifyAuditTrail(tx, auditKey, seen))
    })
  } catch (error) {
    if (error instanceof Undone) return error.verdict
    throw error
  }
  throw new Error('nothing was undone')
}
