import { execFileSync } from 'node:child_process'
import { cpSync, globSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './support/purser.ts'

const root = join(import.meta.dirname, '..')
const copied = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vite.config.ts',
  'scripts/build-web.ts',
  'src/web-pages',
  'web',
]

test('pages that a server has built can be read by the user of a later service', () => {
  const clone = temporaryFolder()
  for (const name of copied) cpSync(join(root, name), join(clone, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  // src/main.ts sets this mask for a server and what it starts.
  execFileSync('sh', ['-c', 'umask 077; exec "$0" scripts/build-web.ts', process.execPath], { cwd: clone })
  const made = ['dist', ...globSync('dist/**', { cwd: clone })]
  expect(made).toContain('dist/web/index.html')
  expect(made.filter((name) => (statSync(join(clone, name)).mode & 0o044) !== 0o044)).toEqual([])
})
