import { Command } from 'commander'
import { configOf, withSettings } from './options.ts'

export function serveCommand(): Command {
  const command = new Command('serve')
    .description('Bring the database up to date and serve (what npm start does)')
    .action(async (flags) => {
      const config = configOf(flags)
      const { serve } = await import('../serve.ts')
      await serve(config)
    })
  return withSettings(command)
}
