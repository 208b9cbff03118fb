import { codeOf } from '../core/error-fields.ts'
import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { timestamp, type Clock } from '../core/clock.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { version } from '../core/version.ts'
import { appliedMigrations, refuseNewerTables } from '../database/migrate.ts'
import type { OpenDatabase } from '../database/open.ts'
import { BACKUP_FORMAT, compressor, toText, type Header } from './backup-format.ts'
import { readEverything } from './backup-store.ts'
import { findMeta } from './meta-store.ts'
import { syncFolder } from './new-file.ts'
import { FINGERPRINT } from './secret-key.ts'

export function refuseExisting(file: string): void {
  if (existsSync(file)) throw new OperatorError(`${file} exists: a backup never overwrites anything`)
}

/**
 * Writes one snapshot of the database into a new file that only its owner may read. States and outputs in it need the
 * secret key; names, permissions and token hashes are not encrypted.
 */
export async function writeBackup(open: OpenDatabase, file: string, clock: Clock): Promise<Header> {
  refuseExisting(file)
  await open.withConnection(refuseNewerTables)
  const header: Header = {
    'purser-backup': BACKUP_FORMAT,
    version,
    migrations: await open.withConnection(appliedMigrations),
    key: (await open.database.read((tx) => findMeta(tx, FINGERPRINT))) ?? null,
    at: timestamp(clock.now()),
  }
  const partial = `${file}.partial`
  try {
    await open.withConnection((db) =>
      pipeline(
        Readable.from(toText(header, readEverything(db, open.database.engine))),
        compressor(),
        // Write to another name first, so that a partial file never looks like a backup.
        createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }),
      ),
    )
    renameSync(partial, file)
    syncFolder(dirname(file))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST') {
      throw new OperatorError(
        `${partial} exists: delete it, unless another backup is writing it; an interrupted one leaves it behind`,
      )
    }
    rmSync(partial, { force: true })
    if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error
    throw new OperatorError(`cannot write the backup: ${reasonOf(error)}`)
  }
  return header
}
