import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './support/purser.ts'

/** The lines of the first stage of the Dockerfile in docs/deploy.md, in order. */
function firstStage(): string[] {
  const [, dockerfile = ''] =
    /^```dockerfile\n([\s\S]*?)^```$/m.exec(readFileSync('docs/deploy.md', 'utf8')) ?? []
  return dockerfile.split('\nFROM ')[0]?.trim().split('\n') ?? []
}

test('the first stage of the Dockerfile copies all that its build needs', { timeout: 60_000 }, () => {
  const folder = temporaryFolder()
  const lines = firstStage()
  for (const line of lines.filter((one) => one.startsWith('COPY '))) {
    const [, ...names] = line.split(' ')
    const target = names.pop() ?? ''
    for (const name of names) {
      cpSync(name, join(folder, target, target.endsWith('/') ? basename(name) : ''), { recursive: true })
    }
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const [, build = ''] = /^RUN node (.*)$/.exec(lines.at(-1) ?? '') ?? []
  expect(build).toBe('scripts/build-web.ts')
  execFileSync(process.execPath, [build], { cwd: folder, stdio: 'pipe' })
  expect(existsSync(join(folder, 'dist/web/index.html'))).toBe(true)
})
