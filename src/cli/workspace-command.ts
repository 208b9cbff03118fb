import { Command } from 'commander'
import type { ActFlags } from './resource-acts.ts'
import { acting, withResourceCommands } from './resource-commands.ts'

const inOrganization = (command: Command): Command =>
  command.requiredOption('--organization <name>', 'the organization')

export function workspaceCommand(): Command {
  const workspace = new Command('workspace')
    .description('Create, list, show and delete workspaces')
    .addCommand(createCommand())
  return withResourceCommands(workspace, {
    kind: 'workspaces',
    argument: ['<workspace>', 'name or id of the workspace'],
    deletes: 'Delete a workspace with all of its states',
    within: inOrganization,
  }).addHelpText('after', '\nExample:\n  purser workspace list --organization acme')
}

function createCommand(): Command {
  const command = inOrganization(new Command('create').description('Create a workspace'))
    .argument('<name>', 'letters, numbers, - and _')
    .option('--project <project>', 'its project, by name or id (default: the default project)')
  return acting(command, async (config, [name = ''], flags: ActFlags & { project?: string }) => {
    const { createWorkspace } = await import('./resource-acts.ts')
    await createWorkspace(config, name, flags)
  })
}
