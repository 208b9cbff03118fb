import { Command } from 'commander'
import { configOf, databaseSettings, withSettings } from './options.ts'
import { print, printJson } from './output.ts'

export function migrateCommand(): Command {
  const command = new Command('migrate')
    .description('Migrate the database without serving')
    .option('--json', 'print the names of the migrations that ran and of the indexes made as JSON')
    .addHelpText('after', '\nserve does the same at its start. Does nothing if the database is up to date.')
    .action(async (flags) => {
      const { migrateDatabase } = await import('./migration.ts')
      const { migrated, indexes } = await migrateDatabase(configOf(flags))
      if (flags.json) return printJson({ migrated, indexes })
      if (migrated.length > 0) print(`migrated: ${migrated.join(', ')}`)
      if (indexes.length > 0) print(`made the indexes: ${indexes.join(', ')}`)
      if (migrated.length + indexes.length === 0) print('nothing to do: the database is up to date')
    })
  return withSettings(command, databaseSettings)
}
