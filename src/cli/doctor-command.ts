import { Command } from 'commander'
import { SettingError } from '../setting-values.ts'
import { Progress } from '../import/progress.ts'
import { configOf, databaseSettings, withServerSettings } from './options.ts'
import { printJson, printTable } from './output.ts'

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('Check settings, files, database, disk and background jobs; changes nothing')
    .option('--content', 'also read every stored state and all outputs, and name the damaged ones')
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      '\nEnds with 1 if there is a problem. Run it as the user of the server and with its settings; the server may run meanwhile.\nWithout --content it reads a few states, and with SQLite lets SQLite check all pages without states and outputs; the last line says what was not read. --content takes about as long as a backup.',
    )
    .action(async (flags) => {
      const findings = await findingsOf(flags)
      if (flags.json) printJson({ findings })
      else printTable(findings.map((one) => [one.result, one.check, one.detail]))
      if (findings.some((finding) => finding.result === 'problem')) process.exitCode = 1
    })
  return withServerSettings(command, databaseSettings)
}

async function findingsOf(flags: Record<string, unknown>) {
  using progress = new Progress(process.stderr)
  const show = (done: number, total: number) => progress.show('state versions', done, total)
  const { examine } = await import('../operation/doctor.ts')
  const { systemClock } = await import('../core/clock.ts')
  try {
    return await examine(configOf(flags), process.env, systemClock, flags.content === true ? show : undefined)
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    return error.message.split('\n').map((detail) => ({ check: 'settings', result: 'problem', detail }))
  }
}
