import { Command } from 'commander'
import type { Config } from '../config.ts'
import { configOf, databaseSettings, withSettings } from './options.ts'
import { note, print, printJson } from './output.ts'

export function migrateCommand(): Command {
  const command = new Command('migrate')
    .description('Migrate the database without serving')
    .option('--json', 'print the names of the migrations that ran and of the indexes made as JSON')
    .addHelpText('after', '\nserve does the same at its start. Does nothing if the database is up to date.')
    .action(async (flags) => {
      const config = configOf(flags)
      const { migrated, indexes } = await migrateDatabase(config)
      if (flags.json) printJson({ migrated, indexes })
      else if (migrated.length > 0) print(`migrated: ${migrated.join(', ')}`)
      else if (indexes.length === 0) print('nothing to do: the database is up to date')
    })
  return withSettings(command, databaseSettings)
}

async function migrateDatabase(config: Config): Promise<{ migrated: string[]; indexes: string[] }> {
  const { databaseProblem, openDatabase, refuseUnfit } = await import('../database/open.ts')
  const { missingLaterIndexes } = await import('../database/later-indexes.ts')
  const { missingMigrations } = await import('../database/migrate.ts')
  const { findMeta } = await import('../operation/meta-store.ts')
  const { bringUpToDate } = await import('../operation/prepare.ts')
  const { checkFingerprint, findSecretKey, FINGERPRINT } = await import('../operation/secret-key.ts')
  const { lockDataFolder, makeDataFolder } = await import('../operation/data-folder.ts')
  const isSqlite = config.databaseUrl === undefined
  if (isSqlite) makeDataFolder(config.data)
  let open: Awaited<ReturnType<typeof openDatabase>> | undefined
  try {
    open = await openDatabase(config)
    await refuseUnfit(open, config)
    const { names } = await open.withConnection(missingMigrations)
    const unmade = await open.withConnection(missingLaterIndexes)
    if (names.length === 0 && unmade.length === 0) {
      const noted = await open.database.read((tx) => findMeta(tx, FINGERPRINT))
      checkFingerprint(noted, findSecretKey(config), config.data)
      return { migrated: [], indexes: [] }
    }
    const lock = isSqlite ? lockDataFolder(config.data) : undefined
    try {
      const { migrated, indexes } = await bringUpToDate(open, config, note)
      return { migrated, indexes }
    } finally {
      lock?.release()
    }
  } catch (error) {
    throw databaseProblem(error, config)
  } finally {
    await open?.database.close()
  }
}
