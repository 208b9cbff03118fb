import { Command } from 'commander'
import { OperatorError } from '../core/operator-error.ts'
import { configOf, databaseSettings, withSettings } from './options.ts'

export function accessCommand(): Command {
  const command = new Command('access')
    .description('Print the access of a user or a team, and the grants that it comes from')
    .requiredOption('--organization <name>', 'the organization')
    .option('--user <user>', 'a user, by id or user name')
    .option('--team <team>', 'a team, by id or name: the access of its token')
    .option('--workspace <workspace>', 'only on this workspace, by id or name (default: on all)')
    .option('--project <project>', 'only on this project, by id or name')
    .option('--json', 'print resources of type effective-access as JSON')
    .addHelpText('after', '\nExample:\n  purser access --organization acme --user jane --workspace network')
    .action(async (flags) => {
      const { organization, user, team, workspace, project } = flags
      if ((user === undefined) === (team === undefined)) {
        throw new OperatorError('give either --user or --team')
      }
      if (workspace !== undefined && project !== undefined) {
        throw new OperatorError('--workspace and --project cannot be used together')
      }
      const { printAccess } = await import('./access.ts')
      await printAccess(configOf(flags), {
        organization,
        subject: user === undefined ? { team } : { user },
        place: workspace !== undefined ? { workspace } : project !== undefined ? { project } : undefined,
        asJson: flags.json === true,
      })
    })
  // The emulated dialect, edition and release decide which flags are in force.
  return withSettings(command, [...databaseSettings, 'dialect', 'edition', 'release'])
}
