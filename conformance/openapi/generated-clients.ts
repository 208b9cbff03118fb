import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Tally } from '../go.ts'
import { pythonProgram } from './python-programs.ts'
import { createWorld, type World } from './world.ts'

const here = import.meta.dirname
const tsc = resolve(here, '../../node_modules/.bin/tsc')
const LIMIT_MS = 300_000

type Failure = Error & { stdout?: string; stderr?: string; killed?: boolean }

/** Runs a program to its end and returns its output. If the program fails, throws an error with its last output. */
async function run(
  program: string,
  words: readonly string[],
  cwd: string,
  more: NodeJS.ProcessEnv = {},
): Promise<string> {
  const options = { cwd, timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...more } }
  try {
    return (await promisify(execFile)(program, words, options)).stdout
  } catch (error) {
    const { message, stdout = '', stderr = '', killed = false } = error as Failure
    const late = killed ? `it was ended after ${LIMIT_MS / 1_000} s, or wrote too much. ` : ''
    const said = late + `${stdout}\n${stderr}`.trim().slice(-3_000)
    throw new Error(`${program} ${words.slice(0, 4).join(' ')} failed: ${said || message}`, { cause: error })
  }
}

type Maker = {
  name: string
  /** Generates a client from `openapi.json` in the folder, compiles it, runs its program and returns the output. */
  make: (folder: string, environment: NodeJS.ProcessEnv) => Promise<string>
}

const generate = (generator: string, folder: string, ...more: string[]) =>
  run(
    pythonProgram('openapi-generator-cli'),
    ['generate', '-g', generator, '-i', 'openapi.json', '-o', 'made', ...more],
    folder,
  )

const makers: readonly Maker[] = [
  {
    name: 'openapi-generator python',
    make: async (folder, environment) => {
      await generate('python', folder)
      const made = { PYTHONPATH: join(folder, 'made'), ...environment }
      return run(pythonProgram('python'), [join(here, 'python/program.py')], folder, made)
    },
  },
  {
    name: 'openapi-generator typescript-fetch',
    make: async (folder, environment) => {
      await generate('typescript-fetch', folder)
      const options =
        '--target es2022 --module nodenext --strict --skipLibCheck --lib es2022,dom --types --noEmitOnError'
      writeFileSync(join(folder, 'made/package.json'), '{"type":"commonjs"}')
      await run(tsc, [...options.split(' '), 'index.ts'], join(folder, 'made'))
      cpSync(join(here, 'typescript/program.cjs'), join(folder, 'program.cjs'))
      return run(process.execPath, ['program.cjs'], folder, environment)
    },
  },
  {
    name: 'openapi-generator go',
    make: async (folder, environment) => {
      await generate(
        'go',
        folder,
        '--git-host',
        'example.com',
        '--git-user-id',
        'purser',
        '--git-repo-id',
        'client',
      )
      mkdirSync(join(folder, 'made/program'))
      cpSync(join(here, 'openapi-generator-go/main.go'), join(folder, 'made/program/main.go'))
      return run('go', ['run', './program'], join(folder, 'made'), environment)
    },
  },
  {
    name: 'oapi-codegen',
    make: async (folder, environment) => {
      const module = join(folder, 'module')
      cpSync(join(here, 'oapi-codegen'), module, { recursive: true })
      mkdirSync(join(module, 'client'))
      const words = [
        '-package',
        'client',
        '-generate',
        'types,client',
        '-o',
        'client/client.go',
        '../openapi.json',
      ]
      await run('go', ['tool', 'oapi-codegen', ...words], module)
      return run('go', ['run', '.'], module, environment)
    },
  },
]

/** Generates clients from the served description. Each must compile, and list teams and current outputs. */
export async function runGeneratedClients(address: string, token: string): Promise<Tally> {
  const tally: Tally = { passed: 0, failed: 0 }
  const world = await createWorld(address, token)
  const description = await (await fetch(`${address}/api/v2/openapi.json`)).text()
  for (const { name, make } of makers) {
    const folder = mkdtempSync(join(tmpdir(), 'purser-generated-'))
    try {
      writeFileSync(join(folder, 'openapi.json'), description)
      check(JSON.parse(await make(folder, environmentOf(address, token, world))), world)
      tally.passed++
    } catch (error) {
      tally.failed++
      process.stdout.write(
        `conformance: ${name}: ${error instanceof Error ? error.message : String(error)}\n`,
      )
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return tally
}

const environmentOf = (address: string, token: string, { organization, workspaceId }: World) => ({
  PURSER_ADDRESS: address,
  PURSER_TOKEN: token,
  PURSER_ORGANIZATION: organization,
  PURSER_WORKSPACE: workspaceId,
})

function check(printed: unknown, { teams, outputs }: World): void {
  const [got, wanted] = [JSON.stringify(printed), JSON.stringify({ teams, outputs })]
  const same = JSON.stringify(sorted(printed)) === JSON.stringify(sorted({ teams, outputs }))
  if (!same) throw new Error(`it printed ${got} instead of ${wanted}`)
}

/** Sorts the members of objects, at every depth. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [name, sorted(one)]),
  )
}
