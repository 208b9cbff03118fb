import { Command, Option } from 'commander'
import { configOf, databaseSettings, withServerSettings } from './options.ts'
import type { CopyingFlags } from './copying.ts'

const stateOption = () =>
  new Option('--states <which>', 'all state versions, the current one of each workspace, or none')
    .choices(['current', 'all', 'none'])
    .default('current')

const collect = (name: string, names: string[]) => [...names, name]

function withSourceOptions(command: Command): Command {
  return command
    .option('--token-file <file>', 'file with the token for that server')
    .option(
      '--token <token>',
      'the token itself: other users of this machine see it in the list of processes',
    )
    .option('--insecure-http', 'send the token and read states over plain http, also across the network')
    .option('--organization <name>', 'this one alone; may be repeated', collect, [])
    .addOption(stateOption())
    .option('--as <username>', 'the site administrator of this Purser who does it (default: the only one)')
    .option('--json', 'print the report as JSON')
}

export function importCommand(): Command {
  const command = new Command('import')
    .description('Copy organizations with all that is in them from another server, or from an export')
    .requiredOption(
      '--from <source>',
      'address of a server, such as https://tfe.example.com, or the folder of an export',
    )
  withSourceOptions(command)
    .option('--to-organization <name>', 'its name here, when one organization is copied')
    .option('--dry-run', 'say what would be copied, and write nothing')
    .option('--merge', 'also into an organization that is here already and came from elsewhere')
    .addHelpText('after', IMPORT_HELP)
    .action(async (flags: CopyingFlags & { from: string }) => {
      const { importFrom } = await import('./copying.ts')
      await importFrom(configOf(flags), flags.from, flags)
    })
  return withServerSettings(command, databaseSettings)
}

const IMPORT_HELP = `
Copies organizations, projects, teams, workspaces with tags, members, teams' access and states into the
database of these settings; a server may run on it. Give the token in PURSER_IMPORT_TOKEN or a file;
without, it is asked for on a terminal. Best is that of an owner, who sees everything. Tokens, passwords and locks are not copied; the report names the tokens.

The same command again copies what is missing, after Ctrl-C too, and leaves as it is what is here.
Ends with 0 when all was copied, with 1 when something was not, with 130 after Ctrl-C.

Examples:
  read -rs PURSER_IMPORT_TOKEN; export PURSER_IMPORT_TOKEN
  purser import --from https://tfe.example.com --organization acme --dry-run
  purser import --from https://tfe.example.com --organization acme --states all
  purser import --from ./acme-export

docs/import.md says what becomes of each thing.`

export function exportCommand(): Command {
  const command = new Command('export')
    .description('Write what import would copy into a folder of JSON and state files')
    .argument('<folder>', 'a folder that is empty or not there yet')
    .option('--from <address>', 'another server; without it, the database of these settings')
  withSourceOptions(command)
    .addHelpText('after', EXPORT_HELP)
    .action(async (folder: string, flags: CopyingFlags) => {
      const { exportTo } = await import('./copying.ts')
      await exportTo(configOf(flags), folder, flags)
    })
  return withServerSettings(command, databaseSettings)
}

const EXPORT_HELP = `
States stand in the folder in clear, with every secret in them: whoever reads it has them. It is made
for its owner alone (0700). For a copy of everything to keep, use purser backup: that is encrypted.
Ends as import does; an export that was interrupted has no manifest.json, and is not
imported; the same command again begins anew in its folder.

Examples:
  purser export --organization acme ./acme-export
  purser export --organization acme --states all --from https://tfe.example.com ./acme-export`
