import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { createPostgresDatabase, type Engine } from './engines.ts'
import { MANY_WRITES, type TestServer } from './server.ts'

const source = resolve(import.meta.dirname, '../../src/main.ts')
export const ADMIN_TOKEN = 'the-admin-token-of-these-tests'
export const SECRET_KEY = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'

export type Settings = Record<string, string>

/** A folder that is deleted after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'purser-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The settings of a Purser on this engine, with a new folder and a new database. */
export async function settingsFor(engine: Engine): Promise<Settings> {
  const settings = { PURSER_DATA: join(temporaryFolder(), 'data'), PURSER_LISTEN: '127.0.0.1:0' }
  if (engine === 'sqlite') return settings
  const { url, drop } = await createPostgresDatabase()
  onTestFinished(drop)
  return { ...settings, PURSER_DATABASE_URL: url, PURSER_SECRET_KEY: SECRET_KEY }
}

/** The settings of a command on the data of this server. */
export function settingsOf({ app, folder, databaseUrl }: TestServer): Settings {
  const settings = { PURSER_DATA: folder, PURSER_SECRET_KEY: app.deps.config.secretKey.toString('hex') }
  return databaseUrl === undefined ? settings : { ...settings, PURSER_DATABASE_URL: databaseUrl }
}

/** The sources, if these settings add modules to them. Else what build-program.ts has built, if this is a whole run. */
function mainFor(settings: Settings): string {
  const built = process.env['PURSER_TEST_PROGRAM']
  return built === undefined || 'NODE_OPTIONS' in settings ? source : built
}

/** The program as a separate process: of this code, or that of a release, with these arguments and only these settings. */
export class Purser {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  /** Resolves when the process has ended: to its exit code, or to the signal that ended it. */
  readonly ended: Promise<number | string>

  constructor(
    args: readonly string[],
    settings: Settings = {},
    {
      wrapper = [],
      main = mainFor(settings),
    }: { wrapper?: readonly string[]; main?: string | undefined } = {},
  ) {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PURSER_'))
    const [program, ...words] = [...wrapper, process.execPath, main, ...args]
    this.child = spawn(program as string, words, {
      // Started by npm, however the tests are. No load balancer watches /readyz here, so there is no need to wait for one.
      env: {
        ...Object.fromEntries(inherited),
        npm_lifecycle_event: 'purser',
        PURSER_DRAIN_SECONDS: '0',
        PURSER_MAX_WRITES_PER_MINUTE: MANY_WRITES,
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child.stdout?.on('data', (bytes) => (this.stdout += bytes))
    this.child.stderr?.on('data', (bytes) => (this.stderr += bytes))
    this.ended = new Promise((resolve) =>
      this.child.on('close', (code, signal) => resolve(code ?? (signal as string))),
    )
    onTestFinished(async () => {
      this.child.kill('SIGKILL')
      await this.ended
    })
  }

  /** Waits until one of the outputs matches. Throws if the process ends first. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    let hasEnded = false
    void this.ended.then(() => (hasEnded = true))
    for (;;) {
      const found = pattern.exec(this.stdout) ?? pattern.exec(this.stderr)
      if (found !== null) return found
      if (hasEnded) throw new Error(`ended without ${pattern}:\n${this.stdout}${this.stderr}`)
      await Promise.race([
        this.ended,
        new Promise((resolve) => this.child.stdout?.once('data', resolve)),
        new Promise((resolve) => this.child.stderr?.once('data', resolve)),
      ])
    }
  }

  /** Resolves to its address when it serves. */
  async address(): Promise<string> {
    return (await this.says(/serves at (https?:\/\/[^ ]+)/m))[1]?.trim() as string
  }

  async stop(): Promise<number | string> {
    this.child.kill('SIGTERM')
    return this.ended
  }
}

/** Runs a command to its end as a user who may not read the folder. */
export async function runWithout(
  folder: string,
  args: readonly string[],
  settings: Settings,
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  if (process.getuid?.() !== 0) {
    chmodSync(folder, 0)
    onTestFinished(() => chmodSync(folder, 0o700))
    return run(args, settings)
  }
  // Root may read everything. Root without these capabilities may not read another user's closed folder.
  chownSync(folder, 65534, 65534)
  const wrapper = ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--']
  const purser = new Purser(args, settings, { wrapper })
  const code = await purser.ended
  return { code, stdout: purser.stdout, stderr: purser.stderr }
}

/** Runs a command to its end, of `main` instead of this code if it is given. */
export async function run(
  args: readonly string[],
  settings: Settings = {},
  main?: string,
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  const purser = new Purser(args, settings, { main })
  const code = await purser.ended
  return { code, stdout: purser.stdout, stderr: purser.stderr }
}
