import { Command, Option } from 'commander'
import { configOf, databaseSettings, withSettings } from './options.ts'
import { note, print, printJson } from './output.ts'
import type { ActFlags } from './resource-acts.ts'
import { acting, withResourceCommands } from './resource-commands.ts'

export function userCommand(): Command {
  const user = new Command('user')
    .description('Create, invite, suspend, list, show and delete users, and make tokens and links for them')
    .addCommand(createCommand())
    .addCommand(inviteCommand())
    .addCommand(suspendCommand('suspend', 'Refuse a user everything, until they are unsuspended'))
    .addCommand(suspendCommand('unsuspend', 'Let a suspended user in again'))
    .addCommand(tokenCommand())
    .addCommand(passwordLinkCommand())
    .addCommand(endTokensCommand())
  return withResourceCommands(user, {
    kind: 'users',
    argument: ['<user>', 'user name or id'],
    deletes: 'Delete a user, with their tokens and memberships; never the last owner or administrator',
  })
}

function createCommand(): Command {
  const command = new Command('create')
    .description('Create a user, or an account for an invited person')
    .argument('<username>', 'letters, numbers, - and _')
    .requiredOption('--email <email>', 'email address; invitations to it then belong to the user')
    .option('--admin', 'make the user a site administrator, who may do everything')
    .option('--token', 'also create a token and print it')
    .option('--json', 'print id, names and token as JSON')
    .addHelpText('after', '\nExample:\n  purser user create jane --email jane@example.com --token')
    .action(async (username: string, flags) => {
      const { createUser } = await import('./users.ts')
      const user = {
        username,
        email: flags.email,
        isAdmin: flags.admin === true,
        withToken: flags.token === true,
      }
      const made = await createUser(configOf(flags), user)
      if (flags.json) {
        printJson(made)
        return
      }
      note(`made the user ${username} (${made.id})`)
      if (made.token !== undefined) print(made.token)
    })
  return withSettings(command, databaseSettings)
}

function inviteCommand(): Command {
  const command = new Command('invite')
    .description('Invite somebody to an organization by email')
    .argument('<email>', 'email address; who has no account yet gets a link by "purser user password-link"')
    .requiredOption('--organization <name>', 'the organization')
    .addOption(
      new Option('--team <team>', 'a team to join, by name or id; may be repeated')
        .argParser((team: string, teams: string[]) => [...teams, team])
        .default([], 'none'),
    )
    .addHelpText(
      'after',
      '\nExample:\n  purser user invite jane@example.com --organization acme --team readers',
    )
  return acting(command, async (config, [email = ''], flags: ActFlags & { team: readonly string[] }) => {
    const { inviteUser } = await import('./resource-acts.ts')
    await inviteUser(config, email, flags)
  })
}

function suspendCommand(verb: 'suspend' | 'unsuspend', description: string): Command {
  const command = new Command(verb).description(description).argument('<user>', 'user name or id')
  return acting(command, async (config, [user = ''], flags: ActFlags) => {
    const { suspendUser } = await import('./resource-acts.ts')
    await suspendUser(config, verb, user, flags)
  })
}

function tokenCommand(): Command {
  const command = new Command('token')
    .description('Create a token for a user and print it; it is never shown again')
    .argument('<username>', 'user name; upper and lower case are the same')
    .option('--description <text>', 'a note on the use of the token')
    .option('--expires <when>', 'a time, or a span from now such as 90d (default: two years)')
    .option('--json', 'print id, token and expiry as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  export TOKEN=$(purser user token jane --description laptop --expires 90d)',
    )
    .action(async (username: string, flags) => {
      const { createTokenFor } = await import('./users.ts')
      const made = await createTokenFor(configOf(flags), username, flags)
      if (flags.json) {
        printJson(made)
        return
      }
      print(made.token)
      note(`expires ${made['expired-at']}`)
    })
  return withSettings(command, databaseSettings)
}

function endTokensCommand(): Command {
  const command = new Command('end-tokens')
    .description('End all tokens of a user: requests with them are answered 401 from then on')
    .argument('<username>', 'user name; upper and lower case are the same')
    .option('--json', 'print the number of tokens as JSON')
    .addHelpText('after', '\nExample:\n  purser user end-tokens jane')
    .action(async (username: string, flags) => {
      const { endTokensFor } = await import('./users.ts')
      const made = await endTokensFor(configOf(flags), username)
      if (flags.json) printJson(made)
      else print(`ended ${made.ended} tokens of ${username}`)
    })
  return withSettings(command, databaseSettings)
}

function passwordLinkCommand(): Command {
  const command = new Command('password-link')
    .description(
      'Print a link with which a user, or an invited person, sets a password. It works once, within three days.',
    )
    .argument('<user>', 'user name or email; upper and lower case are the same')
    .option('--json', 'print link and expiry as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  purser user password-link jane --public-url https://purser.example.com',
    )
    .action(async (user: string, flags) => {
      const { createPasswordLinkFor } = await import('./users.ts')
      const made = await createPasswordLinkFor(configOf(flags), user)
      if (flags.json) {
        printJson(made)
        return
      }
      print(made.url)
      note(`it expires ${made['expired-at']}; an older link for ${user} no longer works`)
    })
  return withSettings(command, [...databaseSettings, 'listen', 'publicUrl', 'tlsCert', 'tlsKey'])
}
