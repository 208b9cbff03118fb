import { Command, Option } from 'commander'
import {
  environmentName,
  flagName,
  readConfig,
  SettingError,
  settings,
  type Config,
  type SettingName,
} from './config.ts'
import { serve } from './serve.ts'

/** The command line: `purser serve` is what `npm start` runs. */
const program = new Command('purser')
  .description('Teams and state outputs for Terraform and OpenTofu, on your own server.')
  .showHelpAfterError('(--help tells what there is)')
  .configureHelp({ showGlobalOptions: true })

withSettings(
  program.command('serve', { isDefault: true }).description('Migrate the database and serve'),
).action((flags: Partial<Record<SettingName, string>>) => run(flags, serve))

/** Every setting as a flag of the command, with its variable and default in the help. */
function withSettings(command: Command): Command {
  for (const [key, setting] of Object.entries(settings)) {
    const name = key as SettingName
    const initial = 'default' in setting ? `, default ${setting.default}` : ''
    command.addOption(
      new Option(`${flagName(name)} <value>`, `${setting.help} (${environmentName(name)}${initial})`),
    )
  }
  return command
}

/** Says what is wrong in one line for each problem, and ends with 1. */
async function run(
  flags: Partial<Record<SettingName, string>>,
  work: (config: Config) => Promise<void>,
): Promise<void> {
  try {
    await work(readConfig(flags, process.env))
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    for (const line of error.message.split('\n')) console.error(`purser: ${line}`)
    process.exitCode = 1
  }
}

await program.parseAsync()
