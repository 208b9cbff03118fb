import { basename, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { commandName } from '../core/version.ts'
import type { Transaction } from '../database/database.ts'
import { refuseUnfit } from '../database/open.ts'
import { refuseExisting, writeBackup } from '../operation/backup.ts'
import { lockDataFolder, makeDataFolder } from '../operation/data-folder.ts'
import { readHeader, restoreBackup } from '../operation/restore.ts'
import {
  findSecretKey,
  fingerprintOf,
  newSecretKey,
  readSecretKey,
  secretKeyFile,
  writeSecretKey,
} from '../operation/secret-key.ts'
import {
  auditOperator,
  operatorDeps,
  operatorSecretKey,
  withDatabase,
  withOpened,
} from '../operation/command-database.ts'
import { untilInterrupted } from './interruption.ts'

/** Undefined if the operator interrupted it. */
export function backUp(config: Config, file: string, keyFile: string | undefined) {
  return untilInterrupted('interrupted; there is no backup', (signal) => write(config, file, keyFile, signal))
}

async function write(config: Config, file: string, keyFile: string | undefined, signal: AbortSignal) {
  if (keyFile !== undefined && resolve(keyFile) === resolve(file)) {
    throw new OperatorError('the backup and the secret key must be kept apart: name two files')
  }
  return withDatabase(config, async (open) => {
    const key = await open.database.read((tx) => operatorSecretKey(tx, config))
    refuseExisting(file)
    if (keyFile !== undefined) writeSecretKey(keyFile, key)
    const header = await writeBackup(open, file, operatorDeps.clock, signal)
    await open.database.write((tx) => audit(tx, config, 'database.backup', file))
    return header
  })
}

/** @param givenKey the key of the backup; without it, the configured one */
export async function restore(config: Config, file: string, givenKey: Buffer | undefined) {
  const header = await readHeader(file)
  const { key, isNew } = keyFor(config, header.key, givenKey)
  const isSqlite = config.databaseUrl === undefined
  if (isSqlite) makeDataFolder(config.data)
  using _ = isSqlite ? lockDataFolder(config.data) : undefined
  return await withOpened(config, async (open) => {
    await refuseUnfit(open, config)
    const rows = await restoreBackup(open, file, header, async (tx) => {
      // Written before the commit: without the key nobody could read the restored data.
      if (isNew) writeSecretKey(secretKeyFile(config.data), key)
      await audit(tx, config, 'database.restore', file)
    })
    return { rows, at: header.at }
  })
}

export function readKeyFile(file: string): Buffer {
  const key = readSecretKey(file)
  if (key === undefined) throw new OperatorError(`there is no secret key in ${file}`)
  return key
}

/** The key that the backup needs, and whether it has to be written to the data folder. */
function keyFor(config: Config, fingerprint: string | null, fromFile: Buffer | undefined) {
  const own = findSecretKey(config)
  const given = fromFile ?? own
  if (fingerprint === null) return { key: given ?? newSecretKey(), isNew: own === undefined }
  if (given === undefined) {
    throw new OperatorError(
      `the backup needs the secret key of fingerprint ${fingerprint}: give it with --key-file or PURSER_SECRET_KEY`,
    )
  }
  if (fingerprintOf(given) !== fingerprint) {
    throw new OperatorError(
      `the secret key is not the one of this backup: its fingerprint is ${fingerprintOf(given)}, the backup needs ${fingerprint}`,
    )
  }
  if (own !== undefined && fingerprintOf(own) !== fingerprint) {
    const place = config.secretKey === undefined ? secretKeyFile(config.data) : 'PURSER_SECRET_KEY'
    throw new OperatorError(
      `${place} holds another secret key, of fingerprint ${fingerprintOf(own)}: restore into a new data folder or database`,
    )
  }
  return { key: given, isNew: own === undefined }
}

function audit(tx: Transaction, config: Config, action: string, file: string): Promise<void> {
  return auditOperator(tx, config, { action, resourceType: 'databases', resourceId: basename(file) })
}

export const keyAdvice = `states and outputs in it are encrypted: they are lost without the secret key, which must be kept elsewhere (${commandName} backup --key-file)`
