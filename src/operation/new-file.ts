import { codeOf } from '../core/error-fields.ts'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Writes a file that only its owner may read. After a crash the file is either complete or as it was before. */
export function writePrivateFile(file: string, text: string): void {
  const next = `${file}.new`
  // Left by an interrupted start.
  rmSync(next, { force: true })
  try {
    // Always a new file, because overwriting would keep the mode of an old one.
    writeFileSync(next, text, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(next, file)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
  syncFolder(dirname(file))
}

/**
 * Makes a folder for this user only, with those above it, so that it survives a power cut. Does nothing if it exists. Not
 * mkdirSync with `recursive`, which never returns for a folder in /proc.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  const parent = dirname(folder)
  makeFolder(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process that starts at the same moment has made it.
    if (codeOf(error) !== 'EEXIST') throw error
  }
  syncFolder(parent)
}

/** Makes new names in this folder survive a power cut. */
export function syncFolder(folder: string): void {
  // Windows cannot open a folder.
  if (process.platform === 'win32') return
  const open = openSync(folder, 'r')
  try {
    fsyncSync(open)
  } finally {
    closeSync(open)
  }
}
