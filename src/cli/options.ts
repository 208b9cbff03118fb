import { keysOf } from '../core/keys.ts'
import { Option, type Command } from 'commander'
import {
  environmentName,
  flagName,
  readConfig,
  settings,
  type Config,
  type Setting,
  type SettingName,
} from '../config.ts'

const allSettings = keysOf(settings)
/** The settings that a command needs to find the database. */
export const databaseSettings: readonly SettingName[] = ['data', 'databaseUrl', 'secretKey']

/** Adds the settings as flags, with variable and default in the help. */
export function withSettings(command: Command, names: readonly SettingName[] = allSettings): Command {
  for (const name of names) command.addOption(optionOf(name))
  return command
}

/** For a command that every setting of the server matters to: its help lists only the main ones. */
export function withServerSettings(command: Command, listed: readonly SettingName[]): Command {
  for (const name of allSettings) command.addOption(optionOf(name).hideHelp(!listed.includes(name)))
  return command.addHelpText(
    'after',
    '\nThe settings of the server also hold for this command: it accepts every flag of "purser serve".',
  )
}

function optionOf(name: SettingName): Option {
  const setting: Setting<unknown> = settings[name]
  const initial = setting.default === undefined ? '' : `, default ${setting.default}`
  return new Option(`${flagName(name)} <value>`, `${setting.help} (${environmentName(name)}${initial})`)
}

/** The settings of a command. Flags win over the environment. */
export function configOf(flags: Record<string, unknown>): Config {
  const given = Object.entries(flags).filter(([name]) => name in settings)
  return readConfig(Object.fromEntries(given), process.env)
}
