import { Command } from 'commander'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { configOf, databaseSettings, withSettings } from './options.ts'
import type { Flags, KindName } from './resources.ts'

const AS = 'the site administrator who acts (default: the only one)'

type WithOptions = (command: Command) => Command

type Words = {
  /** The kind of object, by the name of its list in the interface. */
  kind: KindName
  argument: readonly [name: string, help: string]
  /** The description of `delete`: it names what is deleted with the object. */
  deletes: string
  /** Adds the options that say where the object is. */
  within?: WithOptions
  /** Options of `list` alone. */
  listOptions?: WithOptions
  checkList?: (flags: Flags) => void
}

/** Adds `list`, `show` and `delete`, which every kind of object has. */
export function withResourceCommands(parent: Command, words: Words): Command {
  return parent.addCommand(listCommand(words)).addCommand(showCommand(words)).addCommand(deleteCommand(words))
}

/**
 * Adds what every command has that sends requests: `--as`, `--json` and the settings of the database.
 *
 * @param run gets the arguments in one list
 */
export function acting<F extends object>(
  command: Command,
  run: (config: Config, args: readonly string[], flags: F) => Promise<void>,
): Command {
  command
    .option('--as <username>', AS)
    .option('--json', 'print the result as JSON')
    .action(() => run(configOf(command.opts()), command.args, command.opts<F>()))
  return withSettings(command, databaseSettings)
}

const noOptions: WithOptions = (command) => command

function listCommand({ kind, within = noOptions, listOptions = within, checkList }: Words): Command {
  const command = listOptions(new Command('list').description(`List ${kind}`))
    .option('--as <username>', AS)
    .option('--json', 'print them as JSON, in the form of the HTTP interface')
    .action(async (flags: Flags) => {
      checkList?.(flags)
      const { listResources } = await import('./resources.ts')
      await listResources(configOf(flags), kind, flags)
    })
  return withSettings(command, databaseSettings)
}

function showCommand({ kind, argument, within = noOptions }: Words): Command {
  const command = within(new Command('show').description(`Show one of the ${kind}`).argument(...argument))
    .option('--as <username>', AS)
    .option('--json', 'print it as JSON, in the form of the HTTP interface')
    .action(async (name: string, flags: Flags) => {
      const { showResource } = await import('./resources.ts')
      await showResource(configOf(flags), kind, name, flags)
    })
  return withSettings(command, databaseSettings)
}

function deleteCommand({ kind, argument, deletes, within = noOptions }: Words): Command {
  const command = within(new Command('delete').description(deletes).argument(...argument))
  if (kind === 'users') {
    command.option(
      '--end-tokens',
      'also end the tokens of teams and organizations that the user has made or seen',
    )
  }
  command
    .option('--yes', 'required: what is deleted cannot be brought back')
    .option('--as <username>', AS)
    .option('--json', 'print what was deleted as JSON')
    .action(async (name: string, flags: Flags) => {
      const { deleteResource } = await import('./resources.ts')
      await deleteResource(configOf(flags), kind, name, flags)
    })
  return withSettings(command, databaseSettings)
}

export function tokenCommand(): Command {
  const token = new Command('token').description('List, show and delete tokens (never their texts)')
  return withResourceCommands(token, {
    kind: 'tokens',
    argument: ['<id>', 'id of the token: at-…'],
    deletes: 'Delete a token: requests with it are answered 401 from then on',
    listOptions: (command) =>
      command
        .option('--user <user>', 'tokens of this user, by user name or id')
        .option('--organization <name>', 'tokens of this organization and its teams')
        .option('--team <team>', 'tokens of this team of the organization alone'),
    checkList: ({ user, organization, team }) => {
      if (team !== undefined && organization === undefined) {
        throw new OperatorError('--team needs --organization')
      }
      if ((user === undefined) === (organization === undefined)) {
        throw new OperatorError('give either --user or --organization')
      }
    },
  }).addHelpText(
    'after',
    '\nA token for a user is made with "purser user token".\n\nExample:\n  purser token list --user jane',
  )
}
