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

const allSettings = Object.keys(settings) as SettingName[]
/** The settings that a command needs to find the database. */
export const databaseSettings: readonly SettingName[] = ['data', 'databaseUrl', 'secretKey']

/** Adds the settings as flags, with variable and default in the help. */
export function withSettings(command: Command, names: readonly SettingName[] = allSettings): Command {
  for (const name of names) {
    const setting: Setting<unknown> = settings[name]
    const initial = setting.default === undefined ? '' : `, default ${setting.default}`
    command.addOption(
      new Option(`${flagName(name)} <value>`, `${setting.help} (${environmentName(name)}${initial})`),
    )
  }
  return command
}

/** The settings of a command. Flags win over the environment. */
export function configOf(flags: Record<string, unknown>): Config {
  const given = Object.entries(flags).filter(([name]) => name in settings)
  return readConfig(Object.fromEntries(given), process.env)
}
