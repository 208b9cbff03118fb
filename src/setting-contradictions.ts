import type { Config, SettingName } from './config.ts'

const MIN_BODIES_IN_FLIGHT = 4

/**
 * Problems of settings that do not fit together, a line each.
 *
 * @param bad settings whose values were refused: they are given
 */
export function contradictions(config: Partial<Config>, bad: ReadonlySet<SettingName>): string[] {
  const problems: string[] = []
  const isGiven = (name: SettingName) => config[name] !== undefined || bad.has(name)
  if (isGiven('tlsCert') !== isGiven('tlsKey')) {
    problems.push('PURSER_TLS_CERT and PURSER_TLS_KEY belong together: give both or none')
  }
  const { listen, metricsListen } = config
  if (metricsListen !== undefined && metricsListen.port !== 0 && metricsListen.port === listen?.port) {
    problems.push('PURSER_METRICS_LISTEN must have another port than PURSER_LISTEN')
  }
  const { maxBytesInFlight, maxBodyBytes } = config
  // A body counts twice, with its parsed form, and one caller may use at most half of the budget.
  if (
    maxBytesInFlight !== undefined &&
    maxBodyBytes !== undefined &&
    maxBytesInFlight < MIN_BODIES_IN_FLIGHT * maxBodyBytes
  ) {
    problems.push(
      `PURSER_MAX_BYTES_IN_FLIGHT must be at least ${MIN_BODIES_IN_FLIGHT} times PURSER_MAX_BODY_BYTES: ${MIN_BODIES_IN_FLIGHT * maxBodyBytes}`,
    )
  }
  if (config.edition === 'self-hosted' && !isGiven('release')) {
    problems.push('PURSER_EDITION self-hosted needs PURSER_RELEASE, for example 202408-1')
  }
  if (config.edition === 'hosted' && config.release !== undefined) {
    problems.push('PURSER_RELEASE is for PURSER_EDITION self-hosted')
  }
  if (config.databaseUrl !== undefined && !isGiven('secretKey')) {
    problems.push(
      'PURSER_SECRET_KEY is required with PURSER_DATABASE_URL, because nodes share it: give the key of this database; for a new one, make a key with: openssl rand -base64 32',
    )
  }
  return problems
}
