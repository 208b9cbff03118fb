import { codeOf } from '../core/error-fields.ts'
import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { timestamp, type Clock } from '../core/clock.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { version } from '../core/version.ts'
import { appliedMigrations, refuseNewerTables } from '../database/migrate.ts'
import type { OpenDatabase } from '../database/open.ts'
import { BACKUP_FORMAT, compressor, toText, type Header } from './backup-format.ts'
import { readEverything } from './backup-store.ts'
import { findMeta } from '../database/meta-store.ts'
import { syncFolder } from './new-file.ts'
import { FINGERPRINT } from './secret-key.ts'

/** In place of a file name: standard output. */
export const STANDARD_OUTPUT = '-'

export function refuseExisting(file: string): void {
  if (file !== STANDARD_OUTPUT && existsSync(file))
    throw new OperatorError(`${file} exists: a backup never overwrites anything`)
}

/**
 * Writes one snapshot of the database into a new file that only its owner may read, or to standard output. States and
 * outputs in it need the secret key; names, permissions and token hashes are not encrypted.
 */
export async function writeBackup(
  open: OpenDatabase,
  file: string,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Header> {
  refuseExisting(file)
  await open.withConnection(refuseNewerTables)
  const header: Header = {
    'purser-backup': BACKUP_FORMAT,
    version,
    migrations: await open.withConnection(appliedMigrations),
    key: (await open.database.read((tx) => findMeta(tx, FINGERPRINT))) ?? null,
    at: timestamp(clock.now()),
  }
  signal?.throwIfAborted()
  // The target is opened by the pipeline: until then nobody would see its error.
  const writeTo = (target: () => Writable) =>
    open.withConnection((db) =>
      pipeline(
        Readable.from(toText(header, readEverything(db, open.database.engine))),
        compressor(),
        target(),
        { signal },
      ),
    )
  try {
    await (file === STANDARD_OUTPUT ? writeTo(standardOutput) : writeFile(file, writeTo))
  } catch (error) {
    if (!/^E[A-Z]+$/.test(codeOf(error) ?? '')) throw error
    throw notWritten(error)
  }
  return header
}

async function writeFile(file: string, writeTo: (target: () => Writable) => Promise<void>): Promise<void> {
  const partial = `${file}.partial`
  try {
    // Write to another name first, so that a partial file never looks like a backup.
    await writeTo(() => createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }))
    renameSync(partial, file)
    syncFolder(dirname(file))
  } catch (error) {
    if (codeOf(error) === 'EEXIST') {
      throw new OperatorError(
        `${partial} exists: delete it, unless another backup is writing it; one that was killed leaves it behind`,
      )
    }
    rmSync(partial, { force: true })
    throw error
  }
}

/** A pipeline cannot end process.stdout, and does not wait until it has written the last bytes. */
function standardOutput(): Writable {
  // A reader that ends early has no backup, so this is a failure, as it is not for other commands.
  process.stdout.removeAllListeners('error').on('error', () => {})
  return new Writable({
    write: (chunk, _encoding, done) =>
      void process.stdout.write(chunk, (error) => done(error ? notWritten(error) : null)),
  })
}

function notWritten(error: unknown): OperatorError {
  return new OperatorError(`cannot write the backup: ${reasonOf(error)}`)
}
