import { Command, Option } from 'commander'
import { OperatorError } from '../core/operator-error.ts'
import type { CopyingFlags, StateFilesFlags } from './copying.ts'
import { configOf, databaseSettings, withServerSettings } from './options.ts'

type ImportFlags = Omit<CopyingFlags, 'states'> & StateFilesFlags & { states: string }

function withSourceOptions(command: Command, states: Option): Command {
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
    .addOption(states)
    .option('--as <username>', 'the site administrator of this Purser who acts (default: the only one)')
    .option('--json', 'print the report as JSON')
}

const STATES = 'copy all state versions, the current one of each workspace, or none'

export function importCommand(): Command {
  const command = new Command('import')
    .description('Copy whole organizations from another server or an export, or a folder of state files')
    .option(
      '--from <source>',
      'address of a server, such as https://tfe.example.com, or the folder of an export',
    )
  const states = new Option(
    '--states <which>',
    `with --from, ${STATES}; without it, a folder of state files`,
  ).default('current')
  withSourceOptions(command, states)
    .addOption(
      new Option(
        '--name-from <what>',
        'for a folder of state files: the path names a workspace (the default), or only the file',
      ).choices(['path', 'file']),
    )
    .option('--to-organization <name>', 'its name here, if you copy one organization')
    .option('--dry-run', 'print what would be copied, and write nothing')
    .option('--merge', 'copy also into an existing organization that did not come from this source')
    .addHelpText('after', IMPORT_HELP)
    .action(async (flags: ImportFlags) => {
      const { from } = flags
      const { importFrom, importStatesOf } = await import('./copying.ts')
      if (from === undefined) await importStatesOf(configOf(flags), folderOfStates(flags), flags)
      else if (flags.nameFrom !== undefined) throw new OperatorError('--name-from is not for --from')
      else await importFrom(configOf(flags), from, { ...flags, states: choiceOf(flags.states) })
    })
  return withServerSettings(command, databaseSettings)
}

const choices = ['current', 'all', 'none'] as const

function choiceOf(given: string): (typeof choices)[number] {
  const choice = choices.find((one) => one === given)
  if (choice !== undefined) return choice
  throw new OperatorError(
    `--states is ${choices.join(', ')} with --from; a folder of state files needs no --from`,
  )
}

function folderOfStates({ states, toOrganization, merge }: ImportFlags): string {
  if (toOrganization !== undefined || merge !== undefined) {
    throw new OperatorError('--to-organization and --merge are for --from')
  }
  if (choices.every((one) => one !== states)) return states
  throw new OperatorError(
    'say what to import: --from with a server or the folder of an export, or --states with a folder of state files',
  )
}

const IMPORT_HELP = `
With --from: copies organizations, projects, teams, workspaces with tags, members, teams' access and states
into the database of these settings; the server may run. Give the token in PURSER_IMPORT_TOKEN or a file. Without
them, the command asks for it on a terminal. Use the token of an owner, who sees everything. Tokens,
passwords and locks are not copied; the report names the tokens.

With --states FOLDER: copies each *.tfstate below the folder into the workspace that its path names, such as
prod-network for prod/network/terraform.tfstate, and prints a line for each. --dry-run shows the names.

The same command again copies what is missing and newer states, also after Ctrl-C, and changes nothing else
that exists here.
Ends with 0 if everything was copied, with 1 if something was not, with 130 after Ctrl-C.

Examples:
  read -rs PURSER_IMPORT_TOKEN; export PURSER_IMPORT_TOKEN
  purser import --from https://tfe.example.com --organization acme --dry-run
  purser import --from https://tfe.example.com --organization acme --states all
  purser import --from ./acme-export
  purser import --states ./states --organization acme --dry-run

docs/import.md says how each kind of object is copied.`

export function exportCommand(): Command {
  const command = new Command('export')
    .description('Write organizations into a folder of JSON and state files, for import')
    .argument('<folder>', 'an empty folder, or one that does not exist yet')
    .option('--from <address>', 'another server; without it, the database of these settings')
  const states = new Option('--states <which>', STATES).choices(choices).default('current')
  withSourceOptions(command, states)
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
