import { flagName, settings, type Config, type SettingName } from '../config.ts'
import { commandName } from '../core/version.ts'
import { addressText } from '../core/listen.ts'

/** Settings that are no secrets. */
type AdvisedFlag = Extract<SettingName, 'data' | 'listen' | 'publicUrl' | 'tlsCert' | 'tlsKey'>

/** Settings that a command needs as flags to open the same database. */
export const databaseFlags: readonly AdvisedFlag[] = ['data']
/** Settings that say where clients reach a server. */
export const addressFlags: readonly AdvisedFlag[] = ['listen', 'publicUrl', 'tlsCert', 'tlsKey']

/** A command line to type next to this server: with the flags that differ from the defaults, and no secrets. */
export function advisedCommand(
  config: Partial<Config>,
  words: string,
  flags: readonly AdvisedFlag[] = databaseFlags,
): string {
  const given = flags.flatMap((name) => {
    const text = textOf(config, name)
    return text === undefined || text === defaultOf(name) ? [] : [`${flagName(name)} ${quoted(text)}`]
  })
  return [commandName, words, ...given].join(' ')
}

function textOf(config: Partial<Config>, name: AdvisedFlag): string | undefined {
  if (name === 'listen') return config.listen === undefined ? undefined : addressText(config.listen)
  return config[name]
}

/** The default as the setting's parser returns it: of a folder, the absolute path. */
function defaultOf(name: AdvisedFlag): string | undefined {
  const { default: initial, parse } = settings[name] as { default?: string; parse: (text: string) => unknown }
  return initial === undefined || name === 'listen' ? initial : String(parse(initial))
}

/** A word of a shell's command line. */
export function quoted(text: string): string {
  return /^[\w./:@%+=,[\]-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
