import type { Config } from '../config.ts'
import { missingLaterIndexes } from '../database/later-indexes.ts'
import { missingMigrations } from '../database/migrate.ts'
import { refuseUnfit } from '../database/open.ts'
import { withOpened } from '../operation/command-database.ts'
import { lockDataFolder, makeDataFolder } from '../operation/data-folder.ts'
import { findMeta } from '../database/meta-store.ts'
import { bringUpToDate } from '../operation/prepare.ts'
import { checkFingerprint, findSecretKey, FINGERPRINT } from '../operation/secret-key.ts'
import { note } from './output.ts'

export async function migrateDatabase(config: Config) {
  const isSqlite = config.databaseUrl === undefined
  if (isSqlite) makeDataFolder(config.data)
  return withOpened(config, async (open) => {
    await refuseUnfit(open, config)
    const { names } = await open.withConnection(missingMigrations)
    const unmade = await open.withConnection(missingLaterIndexes)
    if (names.length === 0 && unmade.length === 0) {
      const noted = await open.database.read((tx) => findMeta(tx, FINGERPRINT))
      checkFingerprint(noted, findSecretKey(config), config.data)
      return { migrated: [], indexes: [] }
    }
    using _ = isSqlite ? lockDataFolder(config.data) : undefined
    return await bringUpToDate(open, config, note, { mayWait: true })
  })
}
