import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Builds the pages once for all tests, before a server does it beside them. */
export function setup(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build-web.ts')], {
    stdio: 'inherit',
  })
}
