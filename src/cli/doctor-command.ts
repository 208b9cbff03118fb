import { Command } from 'commander'
import { SettingError } from '../config.ts'
import { configOf, withSettings } from './options.ts'
import { columns, print, printJson } from './output.ts'

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('Check settings, files, database, disk and background jobs; changes nothing')
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      '\nEnds with 1 when there is a problem. Run it with the settings and as the user of the server.',
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
  const { examine } = await import('../operation/doctor.ts')
  const { systemClock } = await import('../core/clock.ts')
  try {
    return await examine(configOf(flags), process.env, systemClock)
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    return error.message.split('\n').map((detail) => ({ check: 'settings', result: 'problem', detail }))
  }
}
