import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { makeLaterIndexes, missingLaterIndexes } from '../database/later-indexes.ts'
import { openDatabase, type OpenDatabase } from '../database/open.ts'

type Say = (line: string) => void

/**
 * Makes the indexes that are missing, and returns their names. On PostgreSQL this waits until transactions have ended that
 * began before, such as a backup.
 *
 * @param say prints a line for the operator
 */
export async function makeIndexes(
  withConnection: OpenDatabase['withConnection'],
  say: Say,
): Promise<string[]> {
  const missing = await withConnection(missingLaterIndexes)
  if (missing.length === 0) return []
  say(`making the indexes ${missing.map(({ name }) => name).join(', ')} …`)
  return withConnection(makeLaterIndexes)
}

/** The same on PostgreSQL while the server serves. If it fails, the next start tries again. */
export async function makeIndexesBeside(config: Config, log: Logger, say: Say): Promise<void> {
  if (config.databaseUrl === undefined) return
  try {
    const { database, withConnection } = await openDatabase(config)
    try {
      const made = await makeIndexes(withConnection, say)
      if (made.length > 0) say(`made the indexes ${made.join(', ')}`)
    } finally {
      await database.close()
    }
  } catch (error) {
    log.warn({ error }, 'an index could not be made: the next start, or purser migrate, tries again')
  }
}
