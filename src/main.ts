import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Caches compiled code between starts. Only affects modules that are loaded after this call.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)))
// Everything that this program writes contains secrets, so only its own user may read it.
process.umask(0o077)
const { runCommandLine } = await import('./cli/program.ts')
await runCommandLine(process.argv)
