import { Command } from 'commander'
import { configOf, withSettings } from './options.ts'

export function serveCommand(): Command {
  const command = new Command('serve')
    .description('Migrate the database and serve (npm start does the same)')
    .action(async (flags) => {
      const config = configOf(flags)
      const { serve } = await import('../serve.ts')
      await serve(config)
    })
  return withSettings(command)
}
