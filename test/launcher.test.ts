import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const MAIN = `
process.on('SIGTERM', () => { console.log('told'); setTimeout(() => process.exit(3), 200) })
if (process.argv.includes('--wait')) setInterval(() => {}, 1000)
console.log('ready', process.argv.slice(2).join(' '))
`
/** Replaces npm: records that it ran, and executes the file `npm-does`. */
const NPM = `
const fs = require('fs')
fs.appendFileSync('npm-ran', process.argv[2] + '\\n')
fs.mkdirSync('node_modules', { recursive: true })
eval(fs.readFileSync('npm-does', 'utf8'))
`

let root: string

/** Each test gets a copy with a small program and an npm that installs nothing. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'purser-launcher-'))
  cpSync(resolve('bin'), join(root, 'bin'), { recursive: true })
  mkdirSync(join(root, 'src'))
  writeFileSync(join(root, 'src', 'main.ts'), MAIN)
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  writeFileSync(join(root, 'package-lock.json'), '{"packages":{"node_modules/x":{"version":"1.0.0"}}}')
  mkdirSync(join(root, 'npm'))
  writeFileSync(join(root, 'npm', 'package.json'), '{"type":"commonjs"}')
  writeFileSync(join(root, 'npm', 'npm-cli.js'), NPM)
  npmDoes('')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function npmDoes(script: string): void {
  writeFileSync(join(root, 'npm-does'), script)
}

function npmRuns(): number {
  const file = join(root, 'npm-ran')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0
}

type Running = {
  process: ChildProcess
  output: () => string
  says: (text: string) => Promise<void>
  end: () => Promise<number>
}

function start(...args: string[]): Running {
  return run([join(root, 'bin', 'purser.cjs'), ...args])
}

function run(args: string[]): Running {
  const env = {
    ...process.env,
    npm_execpath: join(root, 'npm', 'npm-cli.js'),
    npm_node_execpath: process.execPath,
  }
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const ended = once(child, 'close')
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr.on('data', (data: Buffer) => (output += data.toString()))
  return {
    process: child,
    output: () => output,
    says: async (text) => {
      while (!output.includes(text)) {
        const over = await Promise.race([
          ended.then(() => true),
          once(child.stdout, 'data'),
          once(child.stderr, 'data'),
        ])
        if (over === true && !output.includes(text)) throw new Error(`ended without "${text}":\n${output}`)
      }
    },
    end: async () => ((await ended) as [number])[0],
  }
}

test('the first start installs, the next one leaves npm alone, a changed lockfile installs again', async () => {
  const first = start('serve', '--x')
  expect(await first.end()).toBe(0)
  expect(first.output()).toMatch(/purser: installing .*\n(.*\n)*ready serve --x/)
  const second = start()
  expect(await second.end()).toBe(0)
  expect(second.output()).toBe('ready \n')
  expect(npmRuns()).toBe(1)
  writeFileSync(join(root, 'package-lock.json'), '{"packages":{"node_modules/x":{"version":"1.0.1"}}}')
  expect(await start().end()).toBe(0)
  expect(npmRuns()).toBe(2)
})

test('of two first starts one installs and the other waits and says so', async () => {
  npmDoes(`while (!fs.existsSync('go-on')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)`)
  const one = start()
  await one.says('installing')
  const other = start()
  await other.says(`waiting for another start that is installing (process ${one.process.pid})`)
  writeFileSync(join(root, 'go-on'), '')
  expect(await Promise.all([one.end(), other.end()])).toEqual([0, 0])
  expect(other.output()).toContain('ready')
  expect(npmRuns()).toBe(1)
  expect(existsSync(join(root, '.installing'))).toBe(false)
})

test('a lock that nobody holds any more is taken', async () => {
  mkdirSync(join(root, '.installing'))
  writeFileSync(join(root, '.installing', 'pid'), '1')
  utimesSync(join(root, '.installing'), 0, 0)
  const late = start()
  expect(await late.end()).toBe(0)
  expect(late.output()).not.toContain('waiting')
})

test('a failed install starts nothing, and is tried again next time', async () => {
  npmDoes('process.exitCode = 9')
  const failed = start()
  expect(await failed.end()).toBe(70)
  expect(failed.output()).toContain('purser: npm ci failed (exit code 9); nothing was started')
  expect(failed.output()).not.toContain('ready')
  npmDoes('')
  expect(await start().end()).toBe(0)
  expect(npmRuns()).toBe(2)
})

test('a signal while installing ends npm and the start, and leaves no lock', async () => {
  npmDoes(`console.log('npm is at work'); setInterval(() => {}, 1000)`)
  const stopped = start()
  await stopped.says('npm is at work')
  stopped.process.kill('SIGTERM')
  expect(await stopped.end()).toBe(143)
  expect(stopped.output()).not.toContain('ready')
  expect(existsSync(join(root, '.installing'))).toBe(false)
})

test('the shell of npm leaves its place to Node, so that npm reaches it with SIGTERM', () => {
  const { scripts } = JSON.parse(readFileSync(resolve('package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  expect(scripts['start']).toBe('exec node bin/purser.cjs serve')
  const beside = Object.entries(scripts).filter(
    ([, script]) => /\bnode\b/.test(script) && !/(^|; )exec node [^;&|]*$/.test(script),
  )
  expect(beside).toEqual([])
})

/** Runs the program in a child process, as on a Node that is too old. */
const throughChild = `
const run = require('./bin/run.cjs')
run.runChild(process.execPath, ['bin/purser.cjs', '--wait'])
`

test('a child gets each signal once, and its exit code is ours', async () => {
  expect(await start().end()).toBe(0)
  const launcher = run(['-e', throughChild])
  await launcher.says('ready --wait')
  launcher.process.kill('SIGTERM')
  await launcher.says('told')
  launcher.process.kill('SIGTERM')
  expect(await launcher.end()).toBe(3)
  expect(launcher.output().match(/told/g)).toHaveLength(1)
})

test('a child does not outlive its launcher', async () => {
  expect(await start().end()).toBe(0)
  const launcher = run(['-e', throughChild])
  await launcher.says('ready --wait')
  launcher.process.kill('SIGKILL')
  await launcher.says('told')
})
