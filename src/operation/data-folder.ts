import { accessSync, constants, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { syncFolder } from './new-file.ts'

const LOCK_FILE = 'lock'
const SQLITE_BUSY = 5

/** Makes the folder, closed to others, or finds it writable. */
export function makeDataFolder(folder: string): void {
  try {
    const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
    // What is written into it may be acknowledged soon: its own name must survive a power cut then.
    if (first !== undefined) {
      for (let made = resolve(folder); made.length >= first.length; made = dirname(made))
        syncFolder(dirname(made))
    }
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new OperatorError(`cannot use the data folder ${folder}: ${reasonOf(error)}`)
  }
}

export type FolderLock = { release: () => void }

/**
 * Keeps other servers off the folder for as long as this process lives. SQLite's own file lock does it: the system lets
 * go of it even when the process is killed, so that nothing stale is ever left.
 */
export function lockDataFolder(folder: string): FolderLock {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(join(folder, LOCK_FILE), { timeout: 0 })
    // Without a journal beside it: there is nothing to undo, and a killed process would leave it behind.
    lock.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    lock?.close()
    throw new OperatorError(
      (error as { errcode?: number }).errcode === SQLITE_BUSY
        ? `another Purser runs on the data folder ${folder}; stop it, or choose another folder with PURSER_DATA`
        : `cannot lock the data folder ${folder}: ${reasonOf(error)}`,
    )
  }
  const held = lock
  return { release: () => held.close() }
}
