import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Writes a file for its owner alone, in place of one of that name: after a crash it is there whole, or is as it was. */
export function writePrivateFile(file: string, text: string): void {
  const next = `${file}.new`
  // What an interrupted start left.
  rmSync(next, { force: true })
  try {
    // A new file, whatever stood there: the mode of an old one would stay.
    writeFileSync(next, text, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(next, file)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
  syncFolder(dirname(file))
}

/** Names that were given in this folder survive a power cut from now on. */
export function syncFolder(folder: string): void {
  // Windows opens no folders.
  if (process.platform === 'win32') return
  const open = openSync(folder, 'r')
  try {
    fsyncSync(open)
  } finally {
    closeSync(open)
  }
}
