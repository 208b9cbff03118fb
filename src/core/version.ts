import { parseStored } from './stored-json.ts'
import { readFileSync } from 'node:fs'

const manifest = new URL('../../package.json', import.meta.url)

export const version = parseStored<{ version: string }>(readFileSync(manifest, 'utf8')).version

/** The command line's name in messages: through npm in a clone, directly in an installed package. */
export const commandName = /[\\/]node_modules[\\/]/.test(import.meta.dirname) ? 'purser' : 'npm run purser --'
