import { readFileSync } from 'node:fs'

const manifest = new URL('../../package.json', import.meta.url)

export const version = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version

/** The command line's name in messages: through npm in a clone, directly in an installed package. */
export const commandName = /[\\/]node_modules[\\/]/.test(import.meta.dirname) ? 'purser' : 'npm run purser --'
