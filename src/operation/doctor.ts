import { codeOf } from '../core/error-fields.ts'
import { existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs'
import { findActor, hashToken } from '../access/actor-store.ts'
import { unknownVariables, type Config } from '../config.ts'
import { timestamp, type Clock } from '../core/clock.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { missingLaterIndexes } from '../database/later-indexes.ts'
import { FIRST_MIGRATION, missingMigrations } from '../database/migrate.ts'
import { hasSqliteFile, nameOfDatabase, type OpenDatabase } from '../database/open.ts'
import { seeRetentionTime, type RetentionTime } from '../database/retention-clock.ts'
import { examineFile, examineSample, examineStoredContent, type ShowProgress } from './content-check.ts'
import { isLoopback } from '../core/loopback.ts'
import { addressText } from '../core/listen.ts'
import { checkTls } from './address.ts'
import { withOpened } from './command-database.ts'
import { openFolderProblem } from './data-folder.ts'
import { findFullOrganizations, findLikeNames, findMiscounted, findTrouble } from './doctor-store.ts'
import { findMeta } from '../database/meta-store.ts'
import { adminTokenFile } from './prepare.ts'
import { checkFingerprint, findSecretKey, FINGERPRINT, fingerprintOf } from './secret-key.ts'
import { connectionsProblem } from './welcome.ts'

/** `note`: no problem, but useful to know. */
export type Finding = { check: string; result: 'good' | 'note' | 'problem'; detail: string }

const MIN_FREE_BYTES = 512 * 1024 * 1024
/** Codes of a login count for a minute, and nodes may differ in either direction. */
const MAX_CLOCK_DIFFERENCE_MS = 10_000

export type Report = (check: string, result: Finding['result'], detail: string) => void

/** Checks everything that a server needs. It changes nothing. */
export async function examine(
  config: Config,
  environment: NodeJS.ProcessEnv,
  clock: Clock,
  /** If given, all stored content is read too, and progress is shown. */
  showContent?: ShowProgress,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const report: Report = (check, result, detail) => void findings.push({ check, result, detail })
  examineSettings(config, environment, report)
  examineFolder(config, report)
  await examineDatabase(config, clock, report, showContent)
  return findings
}

function examineSettings(config: Config, environment: NodeJS.ProcessEnv, report: Report): void {
  report('settings', 'good', `listen ${addressText(config.listen)}, dialect ${config.dialect}`)
  for (const name of unknownVariables(environment)) {
    report('settings', 'note', `there is no setting ${name}; it is ignored`)
  }
  try {
    checkTls(config)
    const isOpen = config.tlsCert === undefined && !isLoopback(config.listen.host)
    const address = addressText(config.listen)
    if (config.tlsCert !== undefined) report('tls', 'good', config.tlsCert)
    else if (isOpen) report('tls', 'note', `${address} can be reached from other machines without TLS`)
    else report('tls', 'good', 'none, and only this machine can reach the server')
  } catch (error) {
    report('tls', 'problem', reasonOf(error))
  }
}

function examineFolder(config: Config, report: Report): void {
  try {
    lookIntoFolder(config, report)
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    const detail =
      code === 'EACCES' || code === 'EPERM'
        ? `this user may not look into ${config.data} (${code}): run doctor as the user of the server`
        : `${config.data} cannot be looked into: ${reasonOf(error)}`
    report('data folder', 'problem', detail)
  }
}

function lookIntoFolder({ data, databaseUrl }: Config, report: Report): void {
  if (!existsSync(data)) {
    const result = databaseUrl === undefined ? 'problem' : 'good'
    report('data folder', result, `there is no ${data}${result === 'good' ? ': PostgreSQL needs none' : ''}`)
    return
  }
  // Throws if it is no folder, or if this user may not look into it.
  readdirSync(data)
  const problem = openFolderProblem(data)
  if (problem !== undefined) report('data folder', 'problem', problem)
  else report('data folder', 'good', `${data}, closed to others`)
  const { bavail, bsize } = statfsSync(data)
  const free = bavail * bsize
  const amount = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${data}`
  report('disk', free < MIN_FREE_BYTES ? 'problem' : 'good', amount)
}

async function examineDatabase(
  config: Config,
  clock: Clock,
  report: Report,
  showContent: ShowProgress | undefined,
): Promise<void> {
  const name = nameOfDatabase(config)
  try {
    if (config.databaseUrl === undefined && !hasSqliteFile(config.data)) {
      report('database', 'problem', `there is no ${name}: it is made at the first start`)
      return
    }
    await withOpened(config, async (open) => {
      await examineServer(open, config, report)
      const { names } = await open.withConnection(missingMigrations)
      if (names[0] === FIRST_MIGRATION) {
        report('database', 'problem', `${name} holds no tables: it is new, or its tables are lost`)
        return
      }
      if (names.length > 0) {
        report('database', 'problem', `${name} is older than this Purser; missing: ${names.join(', ')}`)
        return
      }
      const unmade = await open.withConnection(missingLaterIndexes)
      if (unmade.length > 0) {
        const indexes = unmade.map((index) => index.name).join(', ')
        report('database', 'problem', `${name} lacks the indexes ${indexes}: purser migrate makes them`)
      } else report('database', 'good', `${name} answers and is up to date`)
      await examineFile(open, showContent !== undefined, report)
      const key = await examineRows(open, config, clock, report)
      if (showContent === undefined) {
        const unread = await examineSample(open.database, key, report)
        if (unread !== undefined) report('not read', 'note', unread)
      } else if (key !== undefined) await examineStoredContent(open.database, key, report, showContent)
      else report('content', 'problem', 'it cannot be read without the secret key')
      if (showContent === undefined) return
      // It reads the rows of all states.
      const miscounted = await open.database.read(findMiscounted, { isLong: true })
      for (const wrong of miscounted) report('size of states', 'problem', wrong)
      if (miscounted.length === 0) report('size of states', 'good', 'as it is counted')
    })
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    report('database', 'problem', error.message)
  }
}

async function examineServer(open: OpenDatabase, config: Config, report: Report): Promise<void> {
  const { problems, connections } = await open.examine()
  const few = connectionsProblem(config, connections)
  for (const problem of few === undefined ? problems : [...problems, few]) {
    report('database', 'problem', `${nameOfDatabase(config)}: ${problem}`)
  }
}

/** @param now the time of the database; with SQLite that of this machine */
function examineClockDifference(now: Date, clock: Clock, report: Report): void {
  const behindMs = now.getTime() - clock.now().getTime()
  if (Math.abs(behindMs) <= MAX_CLOCK_DIFFERENCE_MS) return
  const seconds = Math.round(Math.abs(behindMs) / 1000)
  const difference = `the clock of this machine is ${seconds} s ${behindMs > 0 ? 'behind' : 'ahead of'} that of PostgreSQL`
  const effect = 'tokens, sessions and login codes expire by the clock of the node that is asked'
  report('clock', 'problem', `${difference}: keep both together, for example with NTP; ${effect}`)
}

/** A note, not a problem: only the operator knows whether no server was running for that long. */
function examineClock({ now, doubtedMs, until }: RetentionTime, report: Report): void {
  if (doubtedMs === 0) return report('clock', 'good', `${timestamp(now)}, as a server saw it last`)
  const hours = Math.round(doubtedMs / 3_600_000)
  const waits = `data that is too old only because of this difference is not deleted before ${until}`
  report('clock', 'note', `${timestamp(now)}, ${hours} h ahead of the last time that a server saw: ${waits}`)
}

/** Returns the secret key if it belongs to this database. */
async function examineRows(
  { database }: OpenDatabase,
  config: Config,
  clock: Clock,
  report: Report,
): Promise<Buffer | undefined> {
  const now = timestamp(clock.now())
  const token = readAdminToken(config, report)
  const { isAccepted, noted, trouble, likeNames, full, aged } = await database.read(async (tx) => ({
    isAccepted:
      token === undefined ? undefined : (await findActor(tx, hashToken(token), clock.now())) !== undefined,
    noted: await findMeta(tx, FINGERPRINT),
    trouble: await findTrouble(tx, now),
    likeNames: await findLikeNames(tx),
    full: await findFullOrganizations(tx, config),
    aged: await seeRetentionTime(tx, clock),
  }))
  if (isAccepted !== undefined) {
    const advice = isAccepted
      ? 'holds a valid token: delete the file once you have the token elsewhere'
      : 'holds a token that this database does not accept: delete the file, unless the token is of another database'
    report('data folder', 'note', `${adminTokenFile(config.data)} ${advice}`)
  }
  examineClock(aged, report)
  examineClockDifference(aged.now, clock, report)
  const key = examineKey(noted, config, report)
  if (noted === undefined && key !== undefined && trouble.hasStates) {
    report(
      'secret key',
      'problem',
      'the database has states, but no fingerprint of the secret key: rows are missing',
    )
  }
  for (const job of trouble.failedJobs) report('background jobs', 'problem', job)
  if (trouble.failedJobs.length === 0) report('background jobs', 'good', 'none has failed')
  for (const name of likeNames) report('names', 'note', name)
  for (const organization of full) report('size of states', 'note', organization)
  const { expiredTokens } = trouble
  if (expiredTokens > 0) report('tokens', 'note', `${expiredTokens} have expired and can be deleted`)
  else report('tokens', 'good', 'none has expired')
  return key
}

/** Undefined if there is no file, or none that this user may read. */
function readAdminToken({ data }: Config, report: Report): string | undefined {
  const file = adminTokenFile(data)
  try {
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  } catch (error) {
    report('data folder', 'problem', `${file} cannot be read: ${reasonOf(error)}`)
    return undefined
  }
}

function examineKey(noted: string | undefined, config: Config, report: Report): Buffer | undefined {
  try {
    const key = findSecretKey(config)
    checkFingerprint(noted, key, config.data)
    if (key === undefined) report('secret key', 'note', 'there is none yet: it is made at the first start')
    else report('secret key', 'good', `fingerprint ${fingerprintOf(key)}`)
    return key
  } catch (error) {
    report('secret key', 'problem', reasonOf(error))
    return undefined
  }
}
