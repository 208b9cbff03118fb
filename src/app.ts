import type { Logger } from 'pino'
import { Grants } from './access/grant-store.ts'
import type { Operator } from './access/operator.ts'
import { AuditKey } from './audit/audit-links.ts'
import { Reveals } from './audit/audit-reveals.ts'
import { auditRetention } from './audit/audit-retention.ts'
import { auditRoutes } from './audit/audit-routes.ts'
import { Standings } from './access/standing-store.ts'
import { LastUsed } from './authentication-tokens/last-used.ts'
import type { ServerConfig } from './config.ts'
import { systemClock, type Clock } from './core/clock.ts'
import { newId } from './core/ids.ts'
import { listenOn } from './core/listen.ts'
import type { Database } from './database/database.ts'
import { BytesInFlight } from './core/bytes-in-flight.ts'
import type { RunnerDeps } from './http/deps.ts'
import type { RawRoute } from './http/raw-route.ts'
import type { Route } from './http/route.ts'
import { AccessLog } from './http/access-log.ts'
import { AcceptedCreates } from './http/accepted-creates.ts'
import { homeRoute } from './http/home-route.ts'
import { KnownAccounts } from './http/known-accounts.ts'
import { Overloads } from './http/overloads.ts'
import { Pipelines } from './http/pipelining.ts'
import { Writes } from './http/send.ts'
import { createServer } from './http/server.ts'
import { RequestMetrics } from './metrics/request-metrics.ts'
import { serviceRoutes } from './http/service-routes.ts'
import { Queries } from './jsonapi/query.ts'
import { TeamNames } from './teams/team-search-store.ts'
import { DocumentCache } from './jsonapi/document-cache.ts'
import { openApiRoute } from './openapi/openapi-route.ts'
import { accessGrantRoutes } from './effective-access/access-grant-routes.ts'
import { accessHolderRoutes } from './effective-access/access-holder-routes.ts'
import { effectiveAccessRoutes } from './effective-access/effective-access-routes.ts'
import { PeopleOfTeams } from './effective-access/people-of-teams.ts'
import { createPageRoutes } from './web-pages/page-routes.ts'
import { mostConnections } from './operation/connection-limit.ts'
import { Drain } from './operation/drain.ts'
import { membershipListRoutes } from './organization-memberships/membership-list-routes.ts'
import { membershipRoutes } from './organization-memberships/membership-routes.ts'
import { deletions } from './operation/deletions.ts'
import { organizationRoutes } from './organizations/organization-routes.ts'
import { tokenTtlPolicyRoutes } from './organizations/token-ttl-policy-routes.ts'
import { projectListRoutes } from './projects/project-list-routes.ts'
import { projectRoutes } from './projects/project-routes.ts'
import { inForceOf } from './teams/team-fields.ts'
import { projectMoveRoutes } from './projects/project-move-routes.ts'
import { tagRoutes } from './tags/tag-routes.ts'
import { tagBindingRoutes } from './tag-bindings/tag-binding-routes.ts'
import { teamProjectRoutes } from './team-access/team-project-routes.ts'
import { teamWorkspaceRoutes } from './team-access/team-workspace-routes.ts'
import { currentOutputRoutes } from './outputs/current-output-routes.ts'
import { outputRoutes } from './outputs/output-routes.ts'
import { outputPreviewRoutes } from './outputs/output-preview-routes.ts'
import { outputVersionRoutes } from './outputs/output-version-routes.ts'
import { stateContentRoutes } from './state-content/state-content-routes.ts'
import { stateDownloadRoutes } from './state-content/state-download-routes.ts'
import { stateRollbackRoutes } from './state-uploads/state-rollback-routes.ts'
import { stateUploadRoutes } from './state-uploads/state-upload-routes.ts'
import { stateVersionCreateRoutes } from './state-uploads/state-version-create-routes.ts'
import { stateVersionRoutes } from './state-versions/state-version-routes.ts'
import { refusalRoutes } from './refusals/refusal-routes.ts'
import { Refusals } from './refusals/refusals.ts'
import { organizationUsageRoutes } from './organizations/organization-usage-routes.ts'
import { WriteRates } from './http/write-rates.ts'
import { States } from './state-content/states.ts'
import { teamMemberRoutes } from './teams/team-member-routes.ts'
import { teamRoutes } from './teams/team-routes.ts'
import { organizationTeamTokenRoutes } from './authentication-tokens/organization-team-token-routes.ts'
import { organizationTokenRoutes } from './authentication-tokens/organization-token-routes.ts'
import { teamTokenRoutes } from './authentication-tokens/team-token-routes.ts'
import { tokenRoutes } from './authentication-tokens/token-routes.ts'
import { userTokenRoutes } from './authentication-tokens/user-token-routes.ts'
import { adminUserActionRoutes } from './users/admin-user-action-routes.ts'
import { adminUserRoutes } from './users/admin-user-routes.ts'
import { passwordRoutes } from './users/password-routes.ts'
import { Passwords } from './users/password.ts'
import { DeviceCookies } from './sessions/device-cookie.ts'
import { Guesses } from './sessions/guesses.ts'
import { ThrottleEvents } from './sessions/throttle-events.ts'
import { WrongPasswords } from './sessions/wrong-passwords.ts'
import { loginCodeRoutes } from './login/login-code-routes.ts'
import { loginTokenRoute } from './login/login-token-route.ts'
import { passwordCheckRoutes } from './sessions/password-check-routes.ts'
import { passwordLinkRoute } from './sessions/password-link-route.ts'
import { sessionRoutes } from './sessions/session-routes.ts'
import { updateSessionsUsed } from './sessions/session-store.ts'
import { signInRoute } from './sessions/sign-in-route.ts'
import { updateLastUsed } from './authentication-tokens/token-store.ts'
import { userRoutes } from './users/user-routes.ts'
import { remoteStateConsumerRoutes } from './workspaces/remote-state-consumer-routes.ts'
import { workspaceListRoutes } from './workspaces/workspace-list-routes.ts'
import { workspaceLockRoutes } from './workspaces/workspace-lock-routes.ts'
import { workspaceRoutes } from './workspaces/workspace-routes.ts'
import { workspaceTagRoutes } from './workspaces/workspace-tag-routes.ts'

/** All routes of the JSON:API interface. The OpenAPI document and the access matrix are generated from this list. */
export const routes: readonly Route[] = [
  ...organizationRoutes,
  ...organizationUsageRoutes,
  ...tokenTtlPolicyRoutes,
  ...membershipRoutes,
  ...membershipListRoutes,
  ...teamRoutes,
  ...teamMemberRoutes,
  ...userRoutes,
  ...adminUserRoutes,
  ...adminUserActionRoutes,
  ...userTokenRoutes,
  ...passwordRoutes,
  ...sessionRoutes,
  ...passwordCheckRoutes,
  ...loginCodeRoutes,
  ...projectListRoutes,
  ...projectRoutes,
  ...projectMoveRoutes,
  ...teamTokenRoutes,
  ...organizationTeamTokenRoutes,
  ...organizationTokenRoutes,
  ...tokenRoutes,
  ...workspaceListRoutes,
  ...workspaceRoutes,
  ...workspaceTagRoutes,
  ...tagRoutes,
  ...tagBindingRoutes,
  ...remoteStateConsumerRoutes,
  ...workspaceLockRoutes,
  ...teamWorkspaceRoutes,
  ...teamProjectRoutes,
  ...effectiveAccessRoutes,
  ...accessGrantRoutes,
  ...accessHolderRoutes,
  ...stateVersionRoutes,
  ...stateVersionCreateRoutes,
  ...stateRollbackRoutes,
  ...stateContentRoutes,
  ...stateDownloadRoutes,
  ...outputRoutes,
  ...currentOutputRoutes,
  ...outputPreviewRoutes,
  ...outputVersionRoutes,
  ...refusalRoutes,
  ...auditRoutes,
]

/** Routes that need no token. */
const openRoutes: readonly RawRoute[] = [
  homeRoute,
  ...serviceRoutes,
  signInRoute,
  passwordLinkRoute,
  ...stateUploadRoutes,
]
export const rawRoutes: readonly RawRoute[] = [...openRoutes, openApiRoute(routes, openRoutes)]

export type App = {
  readonly deps: RunnerDeps
  /** Starts to listen and returns the port, which differs from the argument if that is 0. */
  listen(host: string, port: number): Promise<number>
  /** Finishes the current requests, accepts no new ones and writes what is still queued. */
  close(): Promise<void>
}

/** The server on an open database whose tables are up to date. */
export function createApp(
  config: ServerConfig,
  database: Database,
  log: Logger,
  clock: Clock = systemClock,
  operator?: Operator,
): App {
  database.availability.reportTo(log)
  const standings = new Standings(inForceOf(config))
  const auditKey = new AuditKey(config.secretKey)
  const bytesInFlight = new BytesInFlight(config.maxBytesInFlight)
  const deps: RunnerDeps = {
    config,
    clock,
    newId,
    database,
    standings,
    grants: new Grants(standings),
    documents: new DocumentCache(config.cacheBytes),
    teamNames: new TeamNames(),
    peopleOfTeams: new PeopleOfTeams(),
    queries: new Queries(),
    requestMetrics: config.metricsListen === undefined ? undefined : new RequestMetrics(),
    // A command's own server is no server of others.
    accessLog: operator === undefined ? AccessLog.of(log, config) : undefined,
    accounts: new KnownAccounts(),
    acceptedCreates: new AcceptedCreates(),
    writeRates: new WriteRates(config, operator === undefined),
    lastUsed: new LastUsed(database, log, updateLastUsed),
    sessionsUsed: new LastUsed(database, log, updateSessionsUsed),
    passwords: new Passwords(),
    guesses: new Guesses(),
    wrongPasswords: new WrongPasswords(config, log),
    devices: new DeviceCookies(config.secretKey),
    refusals: new Refusals(database, { standings, config, clock, log }),
    auditKey,
    reveals: new Reveals(database, auditKey),
    deletions: deletions(database, log),
    drain: new Drain(log, mostConnections(config)),
    overloads: new Overloads(log),
    writes: new Writes(),
    pipelines: new Pipelines(),
    bytesInFlight,
    states: new States(database, config, clock, log, bytesInFlight),
    log,
    operator,
  }
  const throttleEvents = new ThrottleEvents(database, { key: auditKey, clock, log })
  deps.guesses.onThrottle = (begun) => throttleEvents.note(begun)
  const retention = auditRetention(database, auditKey, clock, log, config.auditDays)
  const server = createServer(routes, [...rawRoutes, loginTokenRoute, ...createPageRoutes()], deps)
  deps.drain.follow(server)
  database.beforeBlocking = () => deps.writes.flush()
  return {
    deps,
    listen: async (host, port) => {
      const open = await listenOn(server, host, port)
      deps.states.start()
      return open
    },
    close: async () => {
      await deps.drain.close(server)
      await deps.passwords.close()
      await deps.deletions.stop()
      await deps.states.stop()
      await retention.stop()
      await throttleEvents.stop()
      await deps.lastUsed.stop()
      await deps.sessionsUsed.stop()
      await deps.refusals.stop()
      await database.close()
    },
  }
}
