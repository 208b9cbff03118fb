import { Command, Option } from 'commander'
import { OperatorError } from '../core/operator-error.ts'
import type { ActFlags, GrantFlags } from './resource-acts.ts'
import { acting, withResourceCommands } from './resource-commands.ts'

const inOrganization = (command: Command): Command =>
  command.requiredOption('--organization <name>', 'the organization')

export function teamCommand(): Command {
  const team = new Command('team')
    .description('Create, list, show and delete teams, give them access, and add and remove members')
    .addCommand(createCommand())
    .addCommand(grantCommand())
    .addCommand(membersCommand())
  return withResourceCommands(team, {
    kind: 'teams',
    argument: ['<team>', 'name or id of the team'],
    deletes: 'Delete a team, with its tokens and grants',
    within: inOrganization,
  }).addHelpText(
    'after',
    `
Examples:
  purser team list --organization acme
  purser team create readers --organization acme
  purser team members add readers jane tom --organization acme
  purser team grant readers --organization acme --workspace network --access read-outputs`,
  )
}

function createCommand(): Command {
  const command = inOrganization(
    new Command('create').description('Create a team without members and access'),
  )
    .argument('<name>', 'letters, numbers, - and _')
    .addOption(
      new Option('--visibility <who>', 'who sees the team: its members, or the whole organization')
        .choices(['secret', 'organization'])
        .default('secret'),
    )
  return acting(command, async (config, [name = ''], flags: ActFlags & { visibility: string }) => {
    const { createTeam } = await import('./resource-acts.ts')
    await createTeam(config, name, flags)
  })
}

const levels = ['read-outputs', 'read', 'plan', 'write', 'maintain', 'admin', 'none'] as const

function grantCommand(): Command {
  const command = inOrganization(
    new Command('grant').description(
      'Give a team access to a workspace or project, change it, or take it away',
    ),
  )
    .argument('<team>', 'name or id of the team')
    .option('--workspace <workspace>', 'the workspace, by name or id')
    .option('--project <project>', 'the project, by name or id')
    .addOption(
      new Option(
        '--access <level>',
        'read-outputs is the values of outputs without the state; plan is for workspaces, maintain for projects; none takes the access away',
      )
        .choices(levels)
        .makeOptionMandatory(),
    )
  return acting(command, async (config, [name = ''], flags: GrantFlags) => {
    if ((flags.workspace === undefined) === (flags.project === undefined)) {
      throw new OperatorError('give either --workspace or --project')
    }
    const { grantTeam } = await import('./resource-acts.ts')
    await grantTeam(config, name, flags)
  })
}

function membersCommand(): Command {
  const members = new Command('members').description('List, add and remove the members of a team')
  const list = inOrganization(new Command('list').description('List the members of a team')).argument(
    '<team>',
    'name or id of the team',
  )
  members.addCommand(
    acting(list, async (config, [team = ''], flags: ActFlags) => {
      const { listMembers } = await import('./resource-acts.ts')
      await listMembers(config, team, flags)
    }),
  )
  for (const verb of ['add', 'remove'] as const) {
    const command = inOrganization(
      new Command(verb).description(
        verb === 'add' ? 'Add active members of the organization to a team' : 'Remove people from a team',
      ),
    )
      .argument('<team>', 'name or id of the team')
      .argument('<user...>', 'user names or ids')
    members.addCommand(
      acting(command, async (config, [team = '', ...users], flags: ActFlags) => {
        const { changeMembers } = await import('./resource-acts.ts')
        await changeMembers(config, verb, team, users, flags)
      }),
    )
  }
  return members
}
