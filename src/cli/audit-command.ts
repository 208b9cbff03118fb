import { Command, Option } from 'commander'
import type { AuditFlags } from './audit-trail.ts'
import { configOf, databaseSettings, withSettings } from './options.ts'
import { parseAddress, parseCount } from './parse.ts'

export function auditCommand(): Command {
  const command = new Command('audit')
    .description('Print the audit trail: who did what and when, and who read which sensitive values')
    .option(
      '--since <when>',
      'only events since a time such as 2030-01-31T12:00:00Z, or of a span such as 2h',
    )
    .addOption(
      new Option('--until <when>', 'only events until a time, in the form of --since').conflicts('follow'),
    )
    .option('--organization <name>', 'only events of one organization')
    .option('--action <action>', 'only events of one kind, such as team.create')
    .option('--actor <name or id>', 'only events of one user, team or organization')
    .option('--output <name>', 'only reads of a sensitive output of this name')
    .option('--address <address>', 'only events from this address of a client', parseAddress)
    .option('--limit <number>', 'print at most this number of events, the newest', parseCount, 100)
    .option('-f, --follow', 'keep running and print new events')
    .option('--json', 'print one event a line, as JSON')
    .addHelpText(
      'after',
      '\nEvents contain no values and no tokens. Beside an id stands the name, while the object exists.\n\nExample:\n  purser audit --organization acme --since 24h --follow',
    )
    .action(async (flags: AuditFlags) => {
      const { printAuditTrail } = await import('./audit-trail.ts')
      await printAuditTrail(configOf(flags), flags)
    })
  // With positional options, flags after `verify` belong to `verify`.
  return withSettings(command, databaseSettings).enablePositionalOptions().addCommand(verifyCommand())
}

function verifyCommand(): Command {
  const command = new Command('verify')
    .description('Check whether an event of the audit trail was changed, removed, inserted or moved')
    .option('--json', 'print the result as JSON, with the end of each trail')
    .option(
      '--seen <file>',
      'also check that the trails still contain the ends in this file, an earlier output of --json',
    )
    .addHelpText(
      'after',
      '\nEnds with 1 and names the first wrong event. The server may run meanwhile.\n\nExample:\n  purser audit verify --seen last.json --json > next.json',
    )
    .action(async (_own, command: Command) => {
      // `audit --data FOLDER verify` names the database, too.
      const flags = command.optsWithGlobals()
      const { printVerdict } = await import('./audit-verify.ts')
      await printVerdict(configOf(flags), flags.json === true, flags.seen)
    })
  return withSettings(command, databaseSettings)
}
