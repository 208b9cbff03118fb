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
import type { BackgroundLoop } from '../database/background-loop.ts'
import type { Database } from '../database/database.ts'
import type { PeopleOfTeams } from '../effective-access/people-of-teams.ts'
import type { TeamNames } from '../teams/team-search-store.ts'
import type { States } from '../state-content/states.ts'
import type { Queries } from '../jsonapi/query.ts'
import type { DocumentCache } from '../jsonapi/document-cache.ts'
import type { BytesInFlight } from '../core/bytes-in-flight.ts'
import type { Refusals } from '../refusals/refusals.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import type { DeviceCookies } from '../sessions/device-cookie.ts'
import type { Guesses } from '../sessions/guesses.ts'
import type { WrongPasswords } from '../sessions/wrong-passwords.ts'
import type { Passwords } from '../users/password.ts'
import type { Drain } from '../operation/drain.ts'
import type { AccessLog } from './access-log.ts'
import type { AcceptedCreates } from './accepted-creates.ts'
import type { KnownAccounts } from './known-accounts.ts'
import type { Overloads } from './overloads.ts'
import type { Pipelines } from './pipelining.ts'
import type { Writes } from './send.ts'
import type { WriteRates } from './write-rates.ts'

/** What rules, acts and documents may use. */
export type Deps = {
  readonly config: ServerConfig
  readonly clock: Clock
  readonly newId: typeof newId
  readonly database: Database
  readonly standings: Standings
  readonly grants: Grants
  readonly documents: DocumentCache
  readonly teamNames: TeamNames
  readonly peopleOfTeams: PeopleOfTeams
  readonly bytesInFlight: BytesInFlight
  readonly states: States
  readonly deletions: BackgroundLoop
  readonly passwords: Passwords
  readonly guesses: Guesses
  readonly wrongPasswords: WrongPasswords
  readonly devices: DeviceCookies
  readonly log: Logger
}

/** What the runner of routes and the server use besides. */
export type RunnerDeps = Deps & {
  readonly accounts: KnownAccounts
  readonly acceptedCreates: AcceptedCreates
  readonly writeRates: WriteRates
  readonly lastUsed: LastUsed
  readonly sessionsUsed: LastUsed
  readonly refusals: Refusals
  readonly auditKey: AuditKey
  readonly reveals: Reveals
  readonly drain: Drain
  readonly overloads: Overloads
  readonly writes: Writes
  readonly pipelines: Pipelines
  readonly queries: Queries
  /** Only with PURSER_METRICS_LISTEN. */
  readonly requestMetrics?: RequestMetrics
  /** Only with PURSER_ACCESS_LOG. */
  readonly accessLog?: AccessLog
  /** Set only if a command uses its own server in its own process. */
  readonly operator?: Operator
}
