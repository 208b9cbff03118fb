import { codeOf } from '../core/error-fields.ts'
import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings, type Config } from '../config.ts'
import { SettingError } from '../setting-values.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { SQLITE_FILE } from '../database/open.ts'
import { writePrivateFile } from './new-file.ts'

const SECRET_KEY_FILE = 'secret-key'
export const FINGERPRINT = 'secret-key-fingerprint'
const KEY_BYTES = 32
const FINGERPRINT_DIGITS = 16

export function secretKeyFile(folder: string): string {
  return join(folder, SECRET_KEY_FILE)
}

/** The key from the settings, otherwise from the data folder; undefined if there is none yet. */
export function findSecretKey(config: Pick<Config, 'data' | 'secretKey'>): Buffer | undefined {
  return config.secretKey ?? readSecretKey(secretKeyFile(config.data))
}

/** Undefined if the file is missing. */
export function readSecretKey(file: string): Buffer | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new OperatorError(`cannot read the secret key: ${reasonOf(error)}`)
  }
  try {
    return settings.secretKey.parse(text.trim())
  } catch (error) {
    if (error instanceof SettingError) throw new OperatorError(`the secret key in ${file} ${error.message}`)
    throw error
  }
}

/** Throws if the file has another key, because a key must never be overwritten. */
export function writeSecretKey(file: string, key: Buffer): void {
  const there = readSecretKey(file)
  if (there?.equals(key)) return
  if (there !== undefined) {
    throw new OperatorError(`${file} holds another secret key, of fingerprint ${fingerprintOf(there)}`)
  }
  try {
    writePrivateFile(file, `${key.toString('base64')}\n`)
  } catch (error) {
    throw new OperatorError(`cannot write the secret key: ${reasonOf(error)}`)
  }
}

export function newSecretKey(): Buffer {
  return randomBytes(KEY_BYTES)
}

/** Identifies a key without revealing it. Stored in the database and in backups, and printed by `doctor`. */
export function fingerprintOf(key: Buffer): string {
  const digest = createHmac('sha256', key).update('purser secret key fingerprint').digest('hex')
  return digest.slice(0, FINGERPRINT_DIGITS)
}

/** Throws if the database was made with another key: none of its content could be read. */
export function checkFingerprint(noted: string | undefined, key: Buffer | undefined, folder: string): void {
  if (noted === undefined) return
  if (key === undefined) {
    throw new OperatorError(
      `the secret key is missing: ${join(folder, SQLITE_FILE)} was made with the key of fingerprint ${noted}; put your copy of it into ${secretKeyFile(folder)} or into PURSER_SECRET_KEY (backup --key-file writes such a copy)`,
    )
  }
  const given = fingerprintOf(key)
  if (given !== noted) {
    throw new OperatorError(
      `the secret key is not the one of this database: its fingerprint is ${given}, the database was made with ${noted}`,
    )
  }
}
