import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Compiled code is kept between starts. It must be asked for before anything else is loaded.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)))
// Whatever this program writes holds secrets: for its own user alone.
process.umask(0o077)
const { runCommandLine } = await import('./cli/program.ts')
await runCommandLine(process.argv)
