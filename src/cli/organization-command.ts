import { Command } from 'commander'
import { configOf, databaseSettings, withSettings } from './options.ts'
import { print, printJson } from './output.ts'
import { withResourceCommands } from './resource-commands.ts'

export function organizationCommand(): Command {
  const organization = new Command('organization')
    .description('Create, list, show and delete organizations, and accept user tokens again')
    .addCommand(createCommand())
    .addCommand(allowUserTokensCommand())
  return withResourceCommands(organization, {
    kind: 'organizations',
    argument: ['<name>', 'name of the organization'],
    deletes: 'Delete an organization with everything in it, all states too',
  })
}

function createCommand(): Command {
  const command = new Command('create')
    .description('Create an organization with its team owners and its Default Project')
    .argument('<name>', 'letters, numbers, - and _')
    .requiredOption('--email <email>', 'email address of the organization')
    .requiredOption('--owner <username>', 'the user who becomes its first owner')
    .option('--json', 'print id and names as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  purser organization create acme --email ops@example.com --owner jane',
    )
    .action(async (name: string, flags) => {
      const { createOrganization } = await import('./organizations.ts')
      const made = await createOrganization(configOf(flags), { name, email: flags.email, owner: flags.owner })
      if (flags.json) printJson(made)
      else print(`made the organization ${name} (${made.id}), owned by ${made.owner}`)
    })
  return withSettings(command, databaseSettings)
}

function allowUserTokensCommand(): Command {
  const command = new Command('allow-user-tokens')
    .description('Accept the tokens of its members again (sets user-tokens-enabled to true)')
    .argument('<name>', 'name of the organization')
    .addHelpText('after', '\nExample:\n  purser organization allow-user-tokens acme')
    .action(async (name: string, flags) => {
      const { allowUserTokens } = await import('./organizations.ts')
      await allowUserTokens(configOf(flags), name)
      print(`the organization ${name} takes user tokens`)
    })
  return withSettings(command, databaseSettings)
}
