import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BUILD = join(ROOT, 'scripts/build-web.ts')
export const BUILT = join(ROOT, 'dist/web')
/** The file in that folder with what the pages were built from. */
export const MARK = 'built-from'

/** The sources of the pages, as a hash. */
export function sourcesOfPages(): string {
  const hash = createHash('sha256')
  const sources = globSync('web/**/*.{ts,tsx,css,html,json,svg,woff2}', { cwd: ROOT }).toSorted()
  for (const file of [...sources, 'vite.config.ts', 'package-lock.json']) {
    hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)))
  }
  return hash.digest('hex')
}

export function arePagesBuilt(): boolean {
  const mark = join(BUILT, MARK)
  return existsSync(mark) && readFileSync(mark, 'utf8') === sourcesOfPages()
}

/** In a clone, builds the pages in a process beside this one if they have changed. A package has them built. */
export function buildPagesBeside(log: Logger): void {
  if (!existsSync(BUILD) || arePagesBuilt()) return
  const child = spawn(process.execPath, [BUILD], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.once('exit', (code) => {
    if (code !== 0) log.error({ said: said.slice(-2_000) }, 'the pages could not be built: npm run build:web')
  })
  child.once('error', (error) => log.error({ error }, 'the pages could not be built: npm run build:web'))
  child.unref()
}
