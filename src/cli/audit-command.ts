import { Command } from 'commander'
import { configOf, databaseSettings, withSettings } from './options.ts'
import { parseCount } from './parse.ts'

export function auditCommand(): Command {
  const command = new Command('audit')
    .description('Print the audit trail: who did what when, and who was shown which sensitive values')
    .option('--since <when>', 'from a time, or a span back from now such as 2h')
    .option('--organization <name>', 'of one organization only')
    .option('--action <action>', 'of one kind only, such as team.create')
    .option('--limit <number>', 'the newest so many', parseCount, 100)
    .option('-f, --follow', 'go on with what happens from now on')
    .option('--json', 'an event a line, as JSON')
    .addHelpText(
      'after',
      '\nValues and tokens are never in it.\n\nExample:\n  purser audit --organization acme --since 24h --follow',
    )
    .action(async (flags) => {
      const { printAuditTrail } = await import('./audit-trail.ts')
      const { since, organization, action, limit } = flags
      const isFlag = (value: unknown) => value === true
      await printAuditTrail(configOf(flags), {
        since,
        organization,
        action,
        limit,
        follow: isFlag(flags.follow),
        asJson: isFlag(flags.json),
      })
    })
  // With positional options, flags after `verify` belong to `verify`.
  return withSettings(command, databaseSettings).enablePositionalOptions().addCommand(verifyCommand())
}

function verifyCommand(): Command {
  const command = new Command('verify')
    .description('Find out whether any event of the audit trail was changed, removed, put in or moved')
    .option('--json', 'print the verdict as JSON, with where each trail ends')
    .option(
      '--seen <file>',
      'and that all is still there of which --json once printed the ends into this file',
    )
    .addHelpText(
      'after',
      '\nEnds with 1 and names the first such event. A server may be running meanwhile.\n\nExample:\n  purser audit verify --seen last.json --json > next.json',
    )
    .action(async (flags) => {
      const { printVerdict } = await import('./audit-verify.ts')
      await printVerdict(configOf(flags), flags.json === true, flags.seen)
    })
  return withSettings(command, databaseSettings)
}
