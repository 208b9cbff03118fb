import { Command } from 'commander'
import type { SettingName } from '../config.ts'
import { parseId } from '../core/ids.ts'
import { configOf, databaseSettings, withSettings } from './options.ts'

const settings: readonly SettingName[] = [...databaseSettings, 'refusalDays', 'refusalsKept']

export function explainCommand(): Command {
  const command = new Command('explain')
    .description(
      'Explain why a request was answered 404: the missing permission, and grants that would give it; or why the outputs of a state version cannot be read',
    )
    .argument('<id>', 'the X-Request-Id of the answer, or the id of a state version')
    .option('--json', 'print the explanation as JSON')
    .addHelpText(
      'after',
      '\nThe caller only got "not found". A refusal can be explained one second after it happened.\n\nExample:\n  purser explain 8f0c1d2ab7e94c3350d1\n  purser explain sv-8uYVtWAYrcTmAqfk',
    )
    .action(async (id: string, flags) => {
      const config = configOf(flags)
      if (parseId('stateVersion', id) !== undefined) {
        const { explainOutputs } = await import('./explain-outputs.ts')
        await explainOutputs(config, id, flags.json === true)
        return
      }
      const { explain } = await import('./explain.ts')
      await explain(config, id, flags.json === true)
    })
  return withSettings(command, settings)
}
