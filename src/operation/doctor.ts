import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unknownVariables, type Config } from '../config.ts'
import { timestamp, type Clock } from '../core/clock.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { missingMigrations } from '../database/migrate.ts'
import {
  databaseProblem,
  nameOfDatabase,
  openDatabase,
  sqliteFile,
  type OpenDatabase,
} from '../database/open.ts'
import { addressText, checkTls, isLoopback } from './address.ts'
import { findTrouble } from './doctor-store.ts'
import { findMeta } from './meta-store.ts'
import { ADMIN_TOKEN_FILE } from './prepare.ts'
import { checkFingerprint, findSecretKey, FINGERPRINT, fingerprintOf } from './secret-key.ts'

/** `note`: nothing is wrong, but somebody may want to know. */
export type Finding = { check: string; result: 'good' | 'note' | 'problem'; detail: string }

const MIN_FREE_BYTES = 512 * 1024 * 1024
const OTHERS = 0o077

type Report = (check: string, result: Finding['result'], detail: string) => void

/** Looks at everything that a server needs, and changes nothing. */
export async function examine(
  config: Config,
  environment: NodeJS.ProcessEnv,
  clock: Clock,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const report: Report = (check, result, detail) => void findings.push({ check, result, detail })
  examineSettings(config, environment, report)
  examineFolder(config, report)
  await examineDatabase(config, clock, report)
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

function examineFolder({ data, databaseUrl }: Config, report: Report): void {
  if (!existsSync(data)) {
    const result = databaseUrl === undefined ? 'problem' : 'good'
    report('data folder', result, `there is no ${data}${result === 'good' ? ': PostgreSQL needs none' : ''}`)
    return
  }
  const open = [data, ...readdirSync(data).map((name) => join(data, name))].filter(
    (path) => process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0,
  )
  // What lies in a closed folder is closed.
  if (open.includes(data)) {
    report('data folder', 'problem', `others may look into it: chmod -R go= ${data}`)
  } else {
    report('data folder', 'good', `${data}, closed to others`)
  }
  if (existsSync(join(data, ADMIN_TOKEN_FILE))) {
    report(
      'data folder',
      'note',
      `${join(data, ADMIN_TOKEN_FILE)} is a good token: delete it once it is kept elsewhere`,
    )
  }
  const { bavail, bsize } = statfsSync(data)
  const free = bavail * bsize
  const amount = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${data}`
  report('disk', free < MIN_FREE_BYTES ? 'problem' : 'good', amount)
}

async function examineDatabase(config: Config, clock: Clock, report: Report): Promise<void> {
  const name = nameOfDatabase(config)
  if (config.databaseUrl === undefined && !existsSync(sqliteFile(config.data))) {
    report('database', 'problem', `there is no ${name}: it is made at the first start`)
    return
  }
  let open: OpenDatabase | undefined
  try {
    open = await openDatabase(config, () => {})
    const { names } = await open.withConnection(missingMigrations)
    if (names.length > 0) {
      report('database', 'problem', `${name} is older than this Purser; missing: ${names.join(', ')}`)
      return
    }
    report('database', 'good', `${name} answers and is up to date`)
    await examineContent(open, config, clock, report)
  } catch (error) {
    const problem = databaseProblem(error, config)
    if (!(problem instanceof OperatorError)) throw error
    report('database', 'problem', problem.message)
  } finally {
    await open?.database.close()
  }
}

async function examineContent(
  { database }: OpenDatabase,
  config: Config,
  clock: Clock,
  report: Report,
): Promise<void> {
  const now = timestamp(clock.now())
  const { noted, trouble } = await database.read(async (tx) => ({
    noted: await findMeta(tx, FINGERPRINT),
    trouble: await findTrouble(tx, now),
  }))
  try {
    const key = findSecretKey(config)
    checkFingerprint(noted, key, config.data)
    if (key === undefined) report('secret key', 'note', 'there is none yet: it is made at the first start')
    else report('secret key', 'good', `fingerprint ${fingerprintOf(key)}`)
  } catch (error) {
    report('secret key', 'problem', reasonOf(error))
  }
  for (const job of trouble.failedJobs) report('background jobs', 'problem', job)
  if (trouble.failedJobs.length === 0) report('background jobs', 'good', 'none has failed')
  const { expiredTokens } = trouble
  if (expiredTokens > 0) report('tokens', 'note', `${expiredTokens} have expired and can be deleted`)
  else report('tokens', 'good', 'none has expired')
}
