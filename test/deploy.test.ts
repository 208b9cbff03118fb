import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './support/purser.ts'

const page = readFileSync('docs/deploy.md', 'utf8')

/** The first block of the page in this language that begins with these words. */
function blockOf(language: string, start: string): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))]
  return blocks.map(([, block = '']) => block).find((block) => block.startsWith(start)) ?? ''
}

/** The lines of the first stage of the Dockerfile, in order. */
function firstStage(): string[] {
  return blockOf('dockerfile', 'FROM ').split('\nFROM ')[0]?.trim().split('\n') ?? []
}

test('the command of the systemd example reads the settings of the service', () => {
  const settings = join(temporaryFolder(), 'purser.env')
  writeFileSync(settings, blockOf('sh', 'PURSER_'))
  const command = blockOf('sh', '#!/bin/sh')
    .replace('/etc/purser.env', settings)
    .replace('runuser -u purser -- /usr/bin/node /opt/purser/bin', `${process.execPath} bin`)
  const config = execFileSync('sh', ['-c', command, 'purser', 'config', 'tofu'], { encoding: 'utf8' })
  expect(config).toContain('"https://purser.example.com/api/v2/"')
  expect(page).toContain('\nEnvironmentFile=/etc/purser.env\n')
})

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
