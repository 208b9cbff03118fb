import { Command } from 'commander'
import { OperatorError } from '../core/operator-error.ts'
import { configOf, databaseSettings, withSettings } from './options.ts'
import { note, print, printJson } from './output.ts'

export function backupCommand(): Command {
  const command = new Command('backup')
    .description('Write a consistent copy of everything into one file; the server may run')
    .argument('<file>', 'a file that does not exist yet, or - for standard output')
    .option(
      '--key-file <file>',
      'also write the secret key, into a file of its own: a new one, or one that holds this key',
    )
    .option('--json', 'print a summary as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, flags) => {
      const { STANDARD_OUTPUT } = await import('../operation/backup.ts')
      const isStream = file === STANDARD_OUTPUT
      if (isStream && flags.json)
        throw new OperatorError('--json needs a file: the backup is on standard output')
      const { backUp, keyAdvice } = await import('./backups.ts')
      const header = await backUp(configOf(flags), file, flags.keyFile)
      if (header === undefined) return
      if (flags.json) {
        printJson({ file, at: header.at, key: header.key, 'key-file': flags.keyFile ?? null })
        return
      }
      const [say, name] = isStream ? [note, 'the backup'] : [print, file]
      say(`written: ${name}, everything as it was at ${header.at}`)
      if (flags.keyFile === undefined) note(keyAdvice)
      else note(`the secret key is in ${flags.keyFile}: keep it apart from ${name}`)
    })
  return withSettings(command, databaseSettings)
}

const HELP = `
The file has names, permissions and hashes of tokens in clear. States and outputs can only be read with
the secret key. A backup of SQLite can be restored into PostgreSQL, and the other way round.

Example:
  purser backup purser-monday.backup --key-file purser.key`

export function restoreCommand(): Command {
  const command = new Command('restore')
    .description('Restore a backup into a new data folder or an empty PostgreSQL database')
    .argument('<file>', 'a file from purser backup')
    .option('--key-file <file>', 'the secret key of the backup; with SQLite it is kept in the data folder')
    .option('--json', 'print a summary as JSON')
    .addHelpText(
      'after',
      '\nThe restored database has everything as it was then. Tokens, members and grants that were revoked or removed\nsince work again, and users that were suspended since are not suspended any more.\n\nExample:\n  purser restore purser-monday.backup --key-file purser.key --data ./new-data',
    )
    .action(async (file: string, flags) => {
      const { readKeyFile, restore } = await import('./backups.ts')
      const key = flags.keyFile === undefined ? undefined : readKeyFile(flags.keyFile)
      const { rows, at } = await restore(configOf(key === undefined ? flags : withKey(flags, key)), file, key)
      if (flags.json) printJson({ rows, at })
      else {
        print(`restored: ${rows} rows, everything as it was at ${at}`)
        note(
          'everything that was revoked since then is in force again: check tokens, members and team access',
        )
        if (isOnPostgres(flags)) note('start the server with the same key in PURSER_SECRET_KEY')
      }
    })
  return withSettings(command, databaseSettings)
}

function isOnPostgres({ databaseUrl }: Record<string, unknown>): boolean {
  return Boolean(databaseUrl ?? process.env['PURSER_DATABASE_URL'])
}

/** PostgreSQL needs the key as a setting, because there is no data folder to keep it in. */
function withKey(flags: Record<string, unknown>, key: Buffer): Record<string, unknown> {
  const isGiven = Boolean(flags.secretKey ?? process.env['PURSER_SECRET_KEY'])
  return isOnPostgres(flags) && !isGiven ? { ...flags, secretKey: key.toString('base64') } : flags
}
