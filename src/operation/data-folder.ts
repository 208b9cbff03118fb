import { sqliteCodeOf } from '../core/error-fields.ts'
import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { quoted } from './advised-command.ts'
import { makeFolder } from './new-file.ts'

const LOCK_FILE = 'lock'
const SQLITE_BUSY = 5
const OTHERS = 0o077

/** Creates the folder for this user only, or checks that an existing one is readable and writable. */
export function makeDataFolder(folder: string): void {
  try {
    makeFolder(folder)
    // With the dot, so that it fails if the path is a file.
    accessSync(`${folder}/.`, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new OperatorError(`cannot use the data folder ${folder}: ${reasonOf(error)}`)
  }
}

/** A closed folder also protects the files in it. */
export function openFolderProblem(folder: string): string | undefined {
  const stats = statSync(folder, { throwIfNoEntry: false })
  const isOpen = process.platform !== 'win32' && stats !== undefined && (stats.mode & OTHERS) !== 0
  return isOpen ? `others may look into ${folder}: chmod -R go= ${quoted(folder)}` : undefined
}

/**
 * Locks the folder against other servers while this process lives. SQLite's file lock is used because the system
 * releases it even if the process is killed, so no stale lock remains. Closing it releases the lock.
 */
export function lockDataFolder(folder: string): DatabaseSync {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(join(folder, LOCK_FILE), { timeout: 0 })
    // Keep the journal in memory: there is nothing to roll back, and a killed process would leave a file.
    lock.exec('pragma journal_mode = memory; begin exclusive')
    return lock
  } catch (error) {
    lock?.close()
    throw new OperatorError(
      sqliteCodeOf(error) === SQLITE_BUSY
        ? `another Purser runs on the data folder ${folder}; stop it, or choose another folder with PURSER_DATA`
        : `cannot lock the data folder ${folder}: ${reasonOf(error)}`,
    )
  }
}
