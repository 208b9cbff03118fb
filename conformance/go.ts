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

/** The Go modules that contain programs. All of them use the module `harness`. */
export const programModules = ['go-tfe', 'tofu', 'provider']
const allModules = ['harness', 'linearizability', ...programModules]

export const folder = import.meta.dirname

/** Throws an error with instructions unless Go is installed and as new as the modules require. */
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

/** A command from the tool directive of a module. */
interface Tool {
  name: string
  /** The name to print. */
  title: string
  module: string
  /** The package, and the module that contains it. */
  path: string
  versionOf: string
  /** Linker variables that set the version that the tool reports, also to the server. */
  variables: (version: string) => string
}

const tofuIn = (module: string): Tool => ({
  name: 'tofu',
  title: 'OpenTofu',
  module,
  path: 'github.com/opentofu/opentofu/cmd/tofu',
  versionOf: 'github.com/opentofu/opentofu',
  variables: () => '-X github.com/opentofu/opentofu/version.dev=no',
})
const tofu = tofuIn('tofu')
const olderTofu = tofuIn('tofu-1.10')
const terraform: Tool = {
  name: 'terraform',
  title: 'Terraform',
  module: 'terraform',
  path: 'github.com/hashicorp/terraform',
  versionOf: 'github.com/hashicorp/terraform',
  variables: () => '',
}
const provider: Tool = {
  name: 'terraform-provider-tfe',
  title: 'the tfe provider',
  module: 'provider',
  path: 'github.com/hashicorp/terraform-provider-tfe',
  versionOf: 'github.com/hashicorp/terraform-provider-tfe',
  variables: (version) => `-X github.com/hashicorp/terraform-provider-tfe/version.ProviderVersion=${version}`,
}

export interface Tools {
  /** The paths of the commands. */
  tofu: string
  olderTofu: string
  terraform: string
  /** The folder of the provider, whose file has the name that a CLI looks for. */
  provider: string
}

/** Builds the tools that are missing. The first build takes some minutes. */
export function buildTools(): Tools {
  const foundTerraform = process.env['PURSER_TEST_TERRAFORM'] || undefined
  const wanted = [tofu, provider, olderTofu, ...(foundTerraform === undefined ? [terraform] : [])]
  const built = wanted.map((tool) => ({ tool, folder: folderOf(tool) }))
  mkdirSync(binaries, { recursive: true })
  for (const old of readdirSync(binaries)) {
    const isWanted = built.some(({ folder }) => folder === join(binaries, old))
    if (!isWanted && !old.includes('building') && !old.startsWith(PYTHON_PREFIX))
      rmSync(join(binaries, old), { recursive: true })
  }
  for (const { tool, folder } of built) if (!existsSync(folder)) build(tool, folder)
  const commandOf = (tool: Tool) => join(folderOf(tool), tool.name)
  return {
    tofu: commandOf(tofu),
    olderTofu: commandOf(olderTofu),
    terraform: foundTerraform ?? commandOf(terraform),
    provider: folderOf(provider),
  }
}

export const binaries = join(folder, '.bin')
/** The prefix of folders that python.ts creates. */
export const PYTHON_PREFIX = 'python-'

/** A separate folder for each set of dependencies and each Go version. */
function folderOf(tool: Tool): string {
  const { name, module } = tool
  const key = createHash('sha256')
    .update(readFileSync(join(folder, module, 'go.sum')))
    .update(spawnSync('go', ['env', 'GOVERSION', 'GOOS', 'GOARCH']).stdout)
    .digest('hex')
    .slice(0, 16)
  return join(binaries, `${name}-${pinnedVersion(tool)}-${key}`)
}

function build(tool: Tool, target: string): void {
  process.stdout.write(
    `conformance: building ${tool.title} ${pinnedVersion(tool)}, which takes some minutes the first time\n`,
  )
  const began = performance.now()
  const building = `${target}-building-${process.pid}`
  const { status } = spawnSync(
    'go',
    [
      'build',
      '-ldflags',
      `-s -w ${tool.variables(pinnedVersion(tool))}`,
      '-o',
      join(building, tool.name),
      tool.path,
    ],
    { cwd: join(folder, tool.module), stdio: 'inherit' },
  )
  if (status !== 0) throw new Error(`${tool.title} does not build`)
  renameSync(building, target)
  process.stdout.write(`conformance: built in ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
}

function pinnedVersion({ module, versionOf }: Tool): string {
  const required = readFileSync(join(folder, module, 'go.mod'), 'utf8')
  const version = required
    .split('\n')
    .map((line) => line.trim().split(' '))
    .find(([name]) => name === versionOf)?.[1]
  if (version === undefined) throw new Error(`${module}/go.mod pins no ${versionOf}`)
  return version.replace(/^v/, '')
}

/** Runs gofmt and go vet on all Go code here. */
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

export function count(tally: Tally, what: string, good: boolean, output: string): void {
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

/** Programs that wait for a minute. They run once, beside others. */
const PATIENT = '^TestPatient'

const anyOf = (patterns: string[]) => (patterns.length > 0 ? `(${patterns.join('|')})` : '')

/** The flags of `go test` that select the tests of a dialect whose names match. Most tests apply to both dialects. */
function selection(dialect: Dialect, patterns: string[]): string[] {
  const skipped = dialect === 'current' ? PATIENT : `^TestCurrentDialect|${PATIENT}`
  return ['-skip', skipped, '-run', anyOf(patterns)]
}

/** Runs a module's tests. Counts tests without sub-tests. A package that fails outside of a test is one failure. */
export async function runGoTests(
  module: string,
  environment: NodeJS.ProcessEnv,
  dialect: Dialect,
  patterns: string[],
): Promise<Tally> {
  return runSelected(module, environment, selection(dialect, patterns))
}

/** Runs the programs that wait, whose names match. */
export function runPatientTests(environment: NodeJS.ProcessEnv, patterns: string[]): Promise<Tally> {
  return runSelected('tofu', environment, ['-run', `${PATIENT}.*${anyOf(patterns)}`])
}

async function runSelected(
  module: string,
  environment: NodeJS.ProcessEnv,
  selected: string[],
): Promise<Tally> {
  const run = [...selected, './...']
  const { status, results, outputs, complaints } = await goTest(join(folder, module), run, environment)
  const tally = tallyOf(results, outputs)
  if (status !== 0 && tally.failed === 0) count(tally, `go test in ${module}`, false, complaints)
  return tally
}

interface TestRun {
  status: number
  /** `pass`, `fail` or `skip`, by package and test. */
  results: Map<string, string>
  outputs: Map<string, string>
  complaints: string
}

/** Runs `go test` with these arguments. */
export async function goTest(cwd: string, args: string[], env: NodeJS.ProcessEnv): Promise<TestRun> {
  const child = spawn('go', ['test', '-json', '-count=1', ...args], {
    cwd,
    env,
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
    // Lines like `=== RUN` only show the order of parallel tests.
    if (event.Output && !event.Output.startsWith('=== '))
      outputs.set(name, (outputs.get(name) ?? '') + event.Output)
    // A line that a test logs for the reader of the run.
    const report = /: (conformance: .*\n)/.exec(event.Output ?? '')
    if (report) process.stdout.write(report[1] as string)
    if (['pass', 'fail', 'skip'].includes(event.Action)) results.set(name, event.Action)
  }
  return { status: await ended, results, outputs, complaints: await complaints }
}

/** A skipped test counts as failed, because no test may be left out. */
function tallyOf(results: Map<string, string>, outputs: Map<string, string>): Tally {
  const tally = { passed: 0, failed: 0 }
  for (const [name, result] of ownResults(results)) {
    count(tally, name, result === 'pass', outputs.get(name) ?? '')
  }
  return tally
}

/** The results of tests without sub-tests, and failures that no sub-test has caused. */
export function ownResults(results: Map<string, string>): Map<string, string> {
  const names = [...results.keys()]
  const own = new Map<string, string>()
  for (const [name, result] of results) {
    const isTest = name.includes(' ')
    const below = names.filter((other) => other.startsWith(`${name}${isTest ? '/' : ' '}`))
    const isFailedItself = result === 'fail' && !below.some((other) => results.get(other) === 'fail')
    if ((isTest && below.length === 0) || isFailedItself) own.set(name, result)
  }
  return own
}
