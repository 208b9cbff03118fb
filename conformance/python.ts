import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { binaries, count, folder, PYTHON_PREFIX, type Tally } from './go.ts'

const walks = join(folder, 'python')
/** The oldest version that pytfe supports. */
const OLDEST = [3, 10] as const

/** Throws an error with instructions unless Python is installed, new enough and able to create environments. */
function requirePython(): string {
  const question = 'import ensurepip, sys, venv; print(*sys.version_info[:3])'
  const { status, stdout } = spawnSync('python3', ['-c', question], { encoding: 'utf8' })
  const [major = 0, minor = 0, patch = 0] = (stdout ?? '').trim().split(' ').map(Number)
  const isNewEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
  if (status === 0 && isNewEnough) return `${major}.${minor}.${patch}`
  throw new Error(
    `the clients in Python need python3 from ${OLDEST.join('.')} on with venv and ensurepip (Debian: python3-venv)`,
  )
}

/** Installs the pinned packages of requirements.txt if they are missing. Returns the path of that Python. */
export function installPython(from = walks): string {
  const version = requirePython()
  const requirements = join(from, 'requirements.txt')
  const prefix = `${PYTHON_PREFIX}${basename(from)}-`
  const key = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)
  mkdirSync(binaries, { recursive: true })
  const environment = join(binaries, `${prefix}${version}-${key}`)
  const python = join(environment, 'bin', 'python')
  const isWhole = join(environment, 'is-whole')
  if (existsSync(isWhole)) return python
  for (const old of readdirSync(binaries)) {
    if (old.startsWith(prefix)) rmSync(join(binaries, old), { recursive: true })
  }
  process.stdout.write('conformance: installing the clients in Python\n')
  run('python3', '-m', 'venv', environment)
  run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements)
  writeFileSync(isWhole, '')
  return python
}

function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`)
}

/** Runs the walk of each client whose name matches, one after another. */
export async function runPython(
  python: string,
  environment: NodeJS.ProcessEnv,
  patterns: string[],
): Promise<Tally> {
  const tally = { passed: 0, failed: 0 }
  const names = readdirSync(walks).filter((name) => name.endsWith('_walk.py'))
  for (const name of names) {
    if (patterns.length > 0 && !patterns.some((pattern) => new RegExp(pattern).test(name))) continue
    const child = spawn(python, ['-B', join(walks, name)], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said = Promise.all([text(child.stdout), text(child.stderr)])
    const status = await new Promise<number>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code) => resolve(code ?? 1))
    })
    const output = (await said).join('')
    const passed = Number(/^(\d+) passed, 0 failed$/m.exec(output)?.[1] ?? 0)
    if (status === 0 && passed > 0) tally.passed += passed
    else count(tally, name, false, output)
  }
  return tally
}
