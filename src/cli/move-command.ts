import { Command } from 'commander'
import { withSettings } from './options.ts'
import { note, print, printJson, printTable } from './output.ts'

export function moveCommand(): Command {
  const command = new Command('move')
    .description('Copy a data folder into an empty PostgreSQL database and compare both')
    .option('--to <url>', 'postgres://user:password@host/database (default: PURSER_DATABASE_URL)')
    .option('--json', 'print the compared tables as JSON')
    .addHelpText('after', HELP)
    .action(async ({ to, json, ...flags }) => {
      const { move, sourceConfig } = await import('./moving.ts')
      const config = sourceConfig(flags)
      const moved = await move(config, to)
      if (moved === undefined) return
      const { tables, target } = moved
      if (json) {
        printJson({ target, tables })
        return
      }
      const rows = tables.map(({ table, rows, sha256 }) => [table, String(rows), sha256.slice(0, 16)])
      printTable([['TABLE', 'ROWS', 'SHA-256'], ...rows])
      const count = tables.reduce((sum, { rows }) => sum + rows, 0)
      print(`moved: ${count} rows to ${target}, which are the same on both sides`)
      note(
        `Next, start the server with PURSER_DATABASE_URL, and with the secret key of ${config.data} in PURSER_SECRET_KEY.`,
      )
      note(
        `${config.data} is unchanged. Do not serve it any more: changes there would be missing in the other one.`,
      )
    })
  return withSettings(command, ['data', 'secretKey'])
}

const HELP = `
Stop the server first. The command changes nothing in the data folder. After the copy it reads all tables
of both databases again and compares their SHA-256.
An interrupted move leaves a database on which no server starts. The same command again continues.
A password in --to is visible to other users of this machine. One in PURSER_DATABASE_URL is not.

Example:
  PURSER_DATABASE_URL=postgres://purser:secret@db.example.com/purser purser move --data ./data`
