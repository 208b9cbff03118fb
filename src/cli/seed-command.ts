import { Command } from 'commander'
import { advisedCommand } from '../operation/advised-command.ts'
import { configOf, databaseSettings, withServerSettings } from './options.ts'
import { print, printJson, printTable } from './output.ts'

export function seedCommand(): Command {
  const command = new Command('seed')
    .description('Create a demo organization with people, teams, workspaces and states')
    .option('--json', 'print the people and their tokens as JSON')
    .addHelpText(
      'after',
      '\nDoes nothing if the organization demo exists already. The users are anna, ben, rosa, carl and dora.',
    )
    .action(async (flags) => {
      const { seed } = await import('./seed.ts')
      const config = configOf(flags)
      const made = await seed(config)
      if (flags.json) printJson(made ?? {})
      else if (made === undefined)
        print(
          `nothing to do: there is an organization demo already. A new token for one of its people: ${advisedCommand(config, 'user token rosa')}`,
        )
      else {
        print(`made the organization ${made.organization}, with these people and their tokens:`)
        const rows = made.people.map(({ username, role, token }) => [`  ${username}`, token, role])
        printTable(rows)
        print(`to sign in to the pages as one of them: ${advisedCommand(config, 'user password-link anna')}`)
      }
    })
  return withServerSettings(command, [...databaseSettings, 'adminToken'])
}
