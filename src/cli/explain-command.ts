import { Command } from 'commander'
import type { SettingName } from '../config.ts'
import { configOf, databaseSettings, withSettings } from './options.ts'

const settings: readonly SettingName[] = [...databaseSettings, 'refusalDays', 'refusalsKept']

export function explainCommand(): Command {
  const command = new Command('explain')
    .description('Say why a request was answered 404: the missing permission, and what would give it')
    .argument('<request-id>', 'the X-Request-Id of the answer')
    .option('--json', 'print it as JSON')
    .addHelpText(
      'after',
      '\nThe caller was told no more than "not found". A refusal can be explained a second after it happened.\n\nExample:\n  purser explain 8f0c1d2ab7e94c3350d1',
    )
    .action(async (requestId: string, flags) => {
      const { explain } = await import('./explain.ts')
      await explain(configOf(flags), requestId, flags.json === true)
    })
  return withSettings(command, settings)
}
