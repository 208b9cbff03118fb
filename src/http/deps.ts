import type { Logger } from 'pino'
import type { Operator } from '../access/operator.ts'
import type { AuditKey } from '../audit/audit-links.ts'
import type { Reveals } from '../audit/audit-reveals.ts'
import type { Grants } from '../access/grant-store.ts'
import type { Standings } from '../access/standing-store.ts'
import type { Clock } from '../core/clock.ts'
import type { newId } from '../core/ids.ts'
import type { LastUsed } from '../authentication-tokens/last-used.ts'
import type { ServerConfig } from '../config.ts'
import type { Database } from '../database/database.ts'
import type { States } from '../state-versions/states.ts'
import type { DocumentCache } from '../jsonapi/document-cache.ts'
import type { BytesInFlight } from './bytes-in-flight.ts'
import type { Refusals } from '../refusals/refusals.ts'
import type { Deletions } from '../operation/deletions.ts'
import type { Drain } from '../operation/drain.ts'

/** What acts may need. */
export type Deps = {
  readonly config: ServerConfig
  readonly clock: Clock
  readonly newId: typeof newId
  readonly database: Database
  readonly standings: Standings
  readonly grants: Grants
  readonly documents: DocumentCache
  readonly bytesInFlight: BytesInFlight
  readonly states: States
  readonly lastUsed: LastUsed
  readonly refusals: Refusals
  readonly auditKey: AuditKey
  readonly reveals: Reveals
  readonly deletions: Deletions
  readonly drain: Drain
  readonly log: Logger
  /** Set only if a command uses its own server in its own process. */
  readonly operator?: Operator
}
