import { Command } from 'commander'
import type { SettingName } from '../config.ts'
import { configOf, databaseSettings, withSettings } from './options.ts'

const settings: readonly SettingName[] = [...databaseSettings, 'refusalDays', 'refusalsKept']

export function explainCommand(): Command {
  const command = new Command('explain')
    .description(
      'Explain why a request was answered 404: the missing permission, and grants that would give it',
    )
    .argument('<request-id>', 'the X-Request-Id of the answer')
    .option('--json', 'print the refusal as JSON')
    .addHelpText(
      'after',
      '\nThe caller only got "not found". A refusal can be explained one second after it happened.\n\nExample:\n  purser explain 8f0c1d2ab7e94c3350d1',
    )
    .action(async (requestId: string, flags) => {
      const { explain } = await import('./explain.ts')
      await explain(configOf(flags), requestId, flags.json === true)
    })
  return withSettings(command, settings)
}
