import { Command, Option } from 'commander'
import { configOf, databaseSettings, withServerSettings } from './options.ts'
import type { CopyingFlags } from './copying.ts'

function withSourceOptions(command: Command): Command {
  return command
    .option('--token-file <file>', 'file with the token for that server')
    .option(
      '--token <token>',
      'the token itself: other users of this machine see it in the list of processes',
    )
    .option('--insecure-http', 'allow plain http across the network, for the token and for states')
    .addOption(
      new Option('--organization <name>', 'copy only this one; may be repeated')
        .argParser((name: string, names: string[]) => [...names, name])
        .default([], 'all'),
    )
    .addOption(
      new Option('--states <which>', 'copy all state versions, the current one of each workspace, or none')
        .choices(['current', 'all', 'none'])
        .default('current'),
    )
    .option('--as <username>', 'the site administrator of this Purser who acts (default: the only one)')
    .option('--json', 'print the report as JSON')
}

export function importCommand(): Command {
  const command = new Command('import')
    .description('Copy whole organizations from another server, or from an export')
    .requiredOption(
      '--from <source>',
      'address of a server, such as https://tfe.example.com, or the folder of an export',
    )
  withSourceOptions(command)
    .option('--to-organization <name>', 'its name here, if you copy one organization')
    .option('--dry-run', 'print what would be copied, and write nothing')
    .option('--merge', 'copy also into an existing organization that did not come from this source')
    .addHelpText('after', IMPORT_HELP)
    .action(async (flags: CopyingFlags & { from: string }) => {
      const { importFrom } = await import('./copying.ts')
      await importFrom(configOf(flags), flags.from, flags)
    })
  return withServerSettings(command, databaseSettings)
}

const IMPORT_HELP = `
Copies organizations, projects, teams, workspaces with tags, members, teams' access and states into the
database of these settings; the server may run. Give the token in PURSER_IMPORT_TOKEN or a file. Without
them, the command asks for it on a terminal. Use the token of an owner, who sees everything. Tokens,
passwords and locks are not copied; the report names the tokens.

The same command again copies what is missing, also after Ctrl-C, and changes nothing that exists here.
Ends with 0 if everything was copied, with 1 if something was not, with 130 after Ctrl-C.

Examples:
  read -rs PURSER_IMPORT_TOKEN; export PURSER_IMPORT_TOKEN
  purser import --from https://tfe.example.com --organization acme --dry-run
  purser import --from https://tfe.example.com --organization acme --states all
  purser import --from ./acme-export

docs/import.md says how each kind of object is copied.`

export function exportCommand(): Command {
  const command = new Command('export')
    .description('Write organizations into a folder of JSON and state files, for import')
    .argument('<folder>', 'an empty folder, or one that does not exist yet')
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
The folder has the states in clear, with every secret in them. Only its owner can read it (0700). For a
copy of everything to keep, use purser backup, which is encrypted.
The exit codes are those of import. An interrupted export has no manifest.json and cannot be imported;
the same command again begins anew in its folder.

Examples:
  purser export --organization acme ./acme-export
  purser export --organization acme --states all --from https://tfe.example.com ./acme-export`
