import { readFileSync } from 'node:fs'

const manifest = new URL('../../package.json', import.meta.url)

export const version = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version

/** How whoever reads our advice calls the command line: in a clone through npm, as an installed package directly. */
export const commandName = /[\\/]node_modules[\\/]/.test(import.meta.dirname) ? 'purser' : 'npm run purser --'
