import { Command } from 'commander'
import { SettingError } from '../setting-values.ts'
import { Progress } from '../import/progress.ts'
import { configOf, withSettings } from './options.ts'
import { columns, print, printJson } from './output.ts'

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('Check settings, files, database, disk and background jobs; changes nothing')
    .option('--content', 'read every stored state and all outputs, too, and name what is damaged')
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      '\nEnds with 1 when there is a problem. Run it with the settings and as the user of the server, which may go on meanwhile.\n--content takes about as long as a backup; with SQLite it also has the file checked.',
    )
    .action(async (flags) => {
      const findings = await findingsOf(flags)
      if (flags.json) printJson({ findings })
      else for (const line of columns(findings.map((one) => [one.result, one.check, one.detail]))) print(line)
      if (findings.some((finding) => finding.result === 'problem')) process.exitCode = 1
    })
  return withSettings(command)
}

async function findingsOf(flags: Record<string, unknown>) {
  const progress = new Progress(process.stderr)
  const show = (done: number, total: number) => progress.show('state versions', done, total)
  const { examine } = await import('../operation/doctor.ts')
  const { systemClock } = await import('../core/clock.ts')
  try {
    return await examine(configOf(flags), process.env, systemClock, flags.content === true ? show : undefined)
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    return error.message.split('\n').map((detail) => ({ check: 'settings', result: 'problem', detail }))
  } finally {
    progress.clear()
  }
}
