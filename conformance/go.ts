import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

export interface Tally {
  passed: number
  failed: number
}

/** Modules in which programs live, by folder, and the harness that both use. */
export const programModules = ['go-tfe', 'tofu']
const allModules = ['harness', ...programModules]

const folder = import.meta.dirname

/** Throws, saying what to do, unless Go is there and at least as new as the newest of the modules wants. */
export function requireGo(): void {
  const wanted = allModules
    .map((module) => /^go (\S+)$/m.exec(readFileSync(join(folder, module, 'go.mod'), 'utf8'))?.[1] ?? '')
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1)
  const { stdout, error } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8', cwd: folder })
  if (error) throw new Error(`Go is missing: the real clients need Go ${wanted} or newer (https://go.dev/dl)`)
  const found = /^go([\d.]+)/.exec(stdout)?.[1]
  if (!found || found.localeCompare(wanted ?? '', 'en', { numeric: true }) < 0) {
    throw new Error(`Go ${found ?? stdout.trim()} is too old: the real clients need Go ${wanted} or newer`)
  }
}

/** Path of the tofu command, built once for each set of dependencies: the first time takes some minutes. */
export function buildTofu(): string {
  const binaries = join(folder, '.bin')
  const module = join(folder, 'tofu')
  const key = createHash('sha256')
    .update(readFileSync(join(module, 'go.sum')))
    .update(spawnSync('go', ['env', 'GOVERSION', 'GOOS', 'GOARCH']).stdout)
    .digest('hex')
    .slice(0, 16)
  const binary = join(binaries, `tofu-${key}`)
  if (existsSync(binary)) return binary
  mkdirSync(binaries, { recursive: true })
  for (const old of readdirSync(binaries)) if (!old.includes('building')) rmSync(join(binaries, old))
  process.stdout.write('conformance: building OpenTofu, which takes some minutes the first time\n')
  const began = performance.now()
  const building = `${binary}-building-${process.pid}`
  // Without this flag it calls itself a development version, and sends that to the server.
  const flags = '-s -w -X github.com/opentofu/opentofu/version.dev=no'
  const { status } = spawnSync(
    'go',
    ['build', '-ldflags', flags, '-o', building, 'github.com/opentofu/opentofu/cmd/tofu'],
    { cwd: module, stdio: 'inherit' },
  )
  if (status !== 0) throw new Error('OpenTofu does not build')
  renameSync(building, binary)
  process.stdout.write(`conformance: built in ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
  return binary
}

/** Format and vet of all the Go code here. */
export function checkGoCode(): Tally {
  const tally = { passed: 0, failed: 0 }
  const unformatted = spawnSync('gofmt', ['-l', ...allModules], { cwd: folder, encoding: 'utf8' })
  count(tally, 'gofmt', unformatted.status === 0 && unformatted.stdout === '', unformatted.stdout)
  for (const module of allModules) {
    const vet = spawnSync('go', ['vet', './...'], { cwd: join(folder, module), encoding: 'utf8' })
    count(tally, `go vet in ${module}`, vet.status === 0, vet.stderr)
  }
  return tally
}

function count(tally: Tally, what: string, good: boolean, output: string): void {
  if (good) tally.passed++
  else {
    tally.failed++
    process.stdout.write(`FAILED: ${what}\n${output}\n`)
  }
}

interface TestEvent {
  Action: string
  Package?: string
  Test?: string
  Output?: string
}

export type Dialect = 'documented' | 'current'

/** The flags of `go test` for the tests whose names match, of those that hold in the dialect: most hold in both. */
function selection(dialect: Dialect, patterns: string[]): string[] {
  const wanted = patterns.length > 0 ? `(${patterns.join('|')})` : ''
  return dialect === 'current' ? ['-run', wanted] : ['-skip', '^TestCurrentDialect', '-run', wanted]
}

/** Runs a module's tests. Counts those without sub-tests, and a package that fails outside of any test as one failure. */
export async function runGoTests(
  module: string,
  environment: NodeJS.ProcessEnv,
  dialect: Dialect,
  patterns: string[],
): Promise<Tally> {
  const run = selection(dialect, patterns)
  const child = spawn('go', ['test', '-json', '-count=1', ...run, './...'], {
    cwd: join(folder, module),
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const complaints = text(child.stderr)
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
  const results = new Map<string, string>()
  const outputs = new Map<string, string>()
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) {
      process.stdout.write(`${line}\n`)
      continue
    }
    const event = JSON.parse(line) as TestEvent
    const name = event.Test ? `${event.Package} ${event.Test}` : (event.Package ?? 'build')
    // Lines like `=== RUN` only tell the order of tests that run side by side.
    if (event.Output && !event.Output.startsWith('=== '))
      outputs.set(name, (outputs.get(name) ?? '') + event.Output)
    if (['pass', 'fail', 'skip'].includes(event.Action)) results.set(name, event.Action)
  }
  const status = await ended
  const tally = tallyOf(results, outputs)
  if (status !== 0 && tally.failed === 0) count(tally, `go test in ${module}`, false, await complaints)
  return tally
}

/** A skipped test counts as failed: nothing here may be left out. */
function tallyOf(results: Map<string, string>, outputs: Map<string, string>): Tally {
  const tally = { passed: 0, failed: 0 }
  const names = [...results.keys()]
  for (const [name, result] of results) {
    const isTest = name.includes(' ')
    const below = names.filter((other) => other.startsWith(`${name}${isTest ? '/' : ' '}`))
    if (isTest && below.length === 0) count(tally, name, result === 'pass', outputs.get(name) ?? '')
    else if (result === 'fail' && !below.some((other) => results.get(other) !== 'pass')) {
      count(tally, name, false, outputs.get(name) ?? '')
    }
  }
  return tally
}
