// npm pack: builds dist/, because Node does not strip types below node_modules, where a package ends up.
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
const { status } = spawnSync('tsc', ['-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
if (status !== 0) process.exit(1)

// tsc rewrites `.ts` only in imports. The path of a worker file must take its extension from import.meta.url.
const left = globSync('dist/**/*.js').filter((file) =>
  /['"`]\.{1,2}\/[^'"`\n]*\.ts['"`]/.test(readFileSync(file, 'utf8')),
)
for (const file of left) process.stderr.write(`build: ${file} still names a .ts file\n`)
process.exitCode = left.length === 0 ? 0 : 1

await import('./build-web.ts')
