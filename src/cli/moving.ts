import { resolve } from 'node:path'
import { readConfig, type Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { refuseUnfit, nameOfDatabase, sqliteFile, type OpenDatabase } from '../database/open.ts'
import { Progress } from '../import/progress.ts'
import { auditOperator, operatorAuditKey, withDatabase, withOpened } from '../operation/command-database.ts'
import { lockDataFolder } from '../operation/data-folder.ts'
import { moveDatabase, type MovedTable } from '../operation/move.ts'
import { databaseUrl, SettingError } from '../setting-values.ts'
import { untilInterrupted } from './interruption.ts'
import { note } from './output.ts'

type Moved = { readonly tables: readonly MovedTable[]; readonly target: string }

/** Moves the data folder into PostgreSQL. Undefined if the operator interrupted it. */
export async function move(config: Config, to: string | undefined): Promise<Moved | undefined> {
  const file = sqliteFile(config.data)
  const event = { action: 'database.move', resourceType: 'databases', resourceId: file }
  const target = { data: config.data, databaseUrl: addressOf(to) }
  return untilInterrupted('interrupted; the same command again continues', async (signal) => {
    using progress = new Progress(process.stderr)
    const moveInto = async (from: OpenDatabase, open: OpenDatabase) => {
      await refuseUnfit(open, target)
      return moveDatabase(from, open, {
        source: resolve(file),
        signal,
        onContinue: (rows, table) => note(`continues an interrupted move after ${rows} rows of ${table}`),
        onProgress: (stage, done, total) => progress.show(stage, done, total),
        finish: (tx) => auditOperator(tx, config, event),
      })
    }
    const tables = await withDatabase(config, async (from) => {
      // The audit event at the end needs the key. A wrong one is found before anything is copied.
      await from.database.read((tx) => operatorAuditKey(tx, config))
      // No server may write the source meanwhile.
      using _ = lockDataFolder(config.data)
      return await withOpened(target, (open) => moveInto(from, open), { connections: 1 })
    })
    return { tables, target: nameOfDatabase(target) }
  })
}

/** The settings of the source: a data folder, whatever database a server of this environment would use. */
export function sourceConfig(flags: Parameters<typeof readConfig>[0]): Config {
  return readConfig(flags, { ...process.env, PURSER_DATABASE_URL: '' })
}

function addressOf(to: string | undefined): string {
  const given = to ?? process.env.PURSER_DATABASE_URL ?? ''
  if (given === '') throw new OperatorError('name the PostgreSQL database with --to or PURSER_DATABASE_URL')
  try {
    return databaseUrl(given)
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    throw new OperatorError(`${to === undefined ? 'PURSER_DATABASE_URL' : '--to'} ${error.message}`)
  }
}
