import { basename } from 'node:path'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { commandName } from '../core/version.ts'
import type { Transaction } from '../database/database.ts'
import { databaseProblem, refuseUnfit, openDatabase, type OpenDatabase } from '../database/open.ts'
import { writeBackup } from '../operation/backup.ts'
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
import { auditOperator, operatorDeps, withDatabase } from '../operation/command-database.ts'

export async function backUp(config: Config, file: string, keyFile: string | undefined) {
  return withDatabase(config, async (open) => {
    const key = findSecretKey(config)
    if (keyFile !== undefined) {
      if (key === undefined)
        throw new OperatorError('there is no secret key yet: it is made at the first start')
      writeSecretKey(keyFile, key)
    }
    const header = await writeBackup(open, file, operatorDeps.clock)
    await open.database.write((tx) => audit(tx, config, 'database.backup', file))
    return header
  })
}

export async function restore(config: Config, file: string, keyFile: string | undefined) {
  const header = await readHeader(file)
  const { key, isNew } = keyFor(config, header.key, keyFile)
  const isSqlite = config.databaseUrl === undefined
  if (isSqlite) makeDataFolder(config.data)
  const lock = isSqlite ? lockDataFolder(config.data) : undefined
  let open: OpenDatabase | undefined
  try {
    open = await openDatabase(config)
    await refuseUnfit(open, config)
    const rows = await restoreBackup(open, file, header, async (tx) => {
      // Written before the commit: without the key nobody could read the restored data.
      if (isNew) writeSecretKey(secretKeyFile(config.data), key)
      await audit(tx, config, 'database.restore', file)
    })
    return { rows, at: header.at }
  } catch (error) {
    throw databaseProblem(error, config)
  } finally {
    await open?.database.close()
    lock?.release()
  }
}

/** The key that the backup needs, and whether it has to be written to the data folder. */
function keyFor(config: Config, fingerprint: string | null, keyFile: string | undefined) {
  const own = findSecretKey(config)
  const given = keyFile === undefined ? own : readSecretKey(keyFile)
  if (keyFile !== undefined && given === undefined) {
    throw new OperatorError(`there is no secret key in ${keyFile}`)
  }
  if (fingerprint !== null && given === undefined) {
    throw new OperatorError(
      `the backup needs the secret key of fingerprint ${fingerprint}: give it with --key-file or PURSER_SECRET_KEY`,
    )
  }
  for (const key of [given, own]) {
    if (fingerprint === null || key === undefined || fingerprintOf(key) === fingerprint) continue
    throw new OperatorError(
      `the secret key is not the one of this backup: its fingerprint is ${fingerprintOf(key)}, the backup needs ${fingerprint}`,
    )
  }
  return { key: given ?? newSecretKey(), isNew: own === undefined }
}

function audit(tx: Transaction, config: Config, action: string, file: string): Promise<void> {
  return auditOperator(tx, config, [{ action, resourceType: 'databases', resourceId: basename(file) }])
}

export const keyAdvice = `states and outputs in it are encrypted: they are lost without the secret key, which must be kept elsewhere (${commandName} backup --key-file)`
