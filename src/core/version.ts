import { parseStored } from './stored-json.ts'
import { readFileSync } from 'node:fs'

const manifest = new URL('../../package.json', import.meta.url)

export const version = parseStored<{ version: string }>(readFileSync(manifest, 'utf8')).version

/** Whether release `a` came before `b`: both are three numbers, such as 0.10.2. */
export function isOlderRelease(a: string, b: string): boolean {
  return a.localeCompare(b, 'en', { numeric: true }) < 0
}

const isInstalled = /[\\/]node_modules[\\/]/.test(import.meta.dirname)
const isRunByNpm = (process.env.npm_lifecycle_event ?? '') !== ''

/** The command line's name in messages: through npm in a clone, if npm has started this. A service is no terminal in a clone. */
export const commandName = isRunByNpm && !isInstalled ? 'npm run purser --' : 'purser'
