import { Command } from 'commander'
import { configOf, databaseSettings, withSettings } from './options.ts'
import { note, print, printJson } from './output.ts'
import { resourceCommands } from './resource-commands.ts'

export function userCommand(): Command {
  const user = new Command('user')
    .description('Make, list, show and delete users, and make tokens for them')
    .addCommand(createCommand())
    .addCommand(tokenCommand())
  const commands = resourceCommands({
    kind: 'users',
    argument: ['<user>', 'user name or id'],
    deletes: 'Delete a user, with their tokens and memberships; never the last owner or administrator',
  })
  for (const command of commands) user.addCommand(command)
  return user
}

function createCommand(): Command {
  const command = new Command('create')
    .description('Make a user, or give somebody who was invited an account')
    .argument('<username>', 'letters, numbers, - and _')
    .requiredOption('--email <email>', 'email address; an invitation to it is then theirs')
    .option('--admin', 'a site administrator, who may do everything')
    .option('--token', 'also make a token, and print it')
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

function tokenCommand(): Command {
  const command = new Command('token')
    .description('Make a token for a user, and print it: nothing can show it again')
    .argument('<username>', 'user name, without regard to case')
    .option('--description <text>', 'what it is for')
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
