// npm run check: types, lint, format and the package build. Runs all of them, even if an early one fails.
import { spawnSync } from 'node:child_process'

const checks = [
  { what: 'types (tsc)', command: ['tsc', '--noEmit'] },
  { what: 'types of the pages (tsc)', command: ['tsc', '--noEmit', '-p', 'web'] },
  { what: 'lint (oxlint, with types)', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { what: 'format (oxfmt)', command: ['oxfmt', '--check'] },
  { what: 'package (tsc to dist)', command: ['node', 'scripts/build.ts'] },
  // The page names a test of each route, so each new test may change it.
  {
    what: 'compatibility page',
    command: ['node', 'node_modules/vitest/vitest.mjs', 'run', 'test/compatibility.test.ts'],
  },
]

let failed = 0
for (const { what, command } of checks) {
  const began = performance.now()
  process.stdout.write(`check: ${what}: ${command.join(' ')}\n`)
  const [program = '', ...args] = command
  const { status } = spawnSync(program, args, { stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) failed++
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  process.stdout.write(`check: ${what}: ${status === 0 ? 'good' : 'FAILED'} (${seconds} s)\n`)
}
process.stdout.write(`${checks.length - failed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
