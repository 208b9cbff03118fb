import { Command } from 'commander'
import type { Config } from '../config.ts'
import { configOf, databaseSettings, withSettings } from './options.ts'
import { note, print, printJson } from './output.ts'

export function migrateCommand(): Command {
  const command = new Command('migrate')
    .description('Migrate the database without serving')
    .option('--json', 'print the names of the migrations that ran as JSON')
    .addHelpText('after', '\nserve does the same at its start. Does nothing if the database is up to date.')
    .action(async (flags) => {
      const config = configOf(flags)
      const names = await migrateDatabase(config)
      if (flags.json) printJson({ migrated: names })
      else
        print(
          names.length === 0 ? 'nothing to do: the database is up to date' : `migrated: ${names.join(', ')}`,
        )
    })
  return withSettings(command, databaseSettings)
}

async function migrateDatabase(config: Config): Promise<string[]> {
  const { databaseProblem, openDatabase } = await import('../database/open.ts')
  const { missingMigrations } = await import('../database/migrate.ts')
  const { bringUpToDate } = await import('../operation/prepare.ts')
  const { lockDataFolder, makeDataFolder } = await import('../operation/data-folder.ts')
  const isSqlite = config.databaseUrl === undefined
  if (isSqlite) makeDataFolder(config.data)
  let open: Awaited<ReturnType<typeof openDatabase>> | undefined
  try {
    open = await openDatabase(config)
    if ((await open.withConnection(missingMigrations)).names.length === 0) return []
    const lock = isSqlite ? lockDataFolder(config.data) : undefined
    try {
      return (await bringUpToDate(open, config, note)).migrated
    } finally {
      lock?.release()
    }
  } catch (error) {
    throw databaseProblem(error, config)
  } finally {
    await open?.database.close()
  }
}
