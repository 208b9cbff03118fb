import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

export interface Purser {
  address: string
  /** Stops it with SIGTERM. Resolves to its exit code after its data folder has been deleted. */
  stop: () => Promise<number>
  /** Its last output. */
  tail: () => string
}

const startLimitMs = 60_000
const main = resolve(import.meta.dirname, '../src/main.ts')

/** Starts a Purser of this clone on a free port, with an empty data folder and only these settings. */
export async function startPurser(settings: Record<`PURSER_${string}`, string>): Promise<Purser> {
  const data = mkdtempSync(join(tmpdir(), 'purser-conformance-'))
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PURSER_'))
  const child = spawn(process.execPath, [main, 'serve'], {
    cwd: data,
    env: {
      ...Object.fromEntries(inherited),
      PURSER_LISTEN: '127.0.0.1:0',
      PURSER_DATA: data,
      PURSER_DRAIN_SECONDS: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)))
  const listening = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        said.push(line)
        if (said.length > 200) said.shift()
        const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
        if (address && stream === child.stdout) resolve(address)
      })
    }
    child.on('close', (code) => reject(new Error(`Purser has ended with ${code}:\n${said.join('\n')}`)))
  })
  const stop = async () => {
    child.kill('SIGTERM')
    const code = await ended
    rmSync(data, { recursive: true, force: true })
    return code
  }
  try {
    const address = await within(listening, () => `Purser has not said its address:\n${said.join('\n')}`)
    await within(ready(address), () => `Purser is not ready at ${address}:\n${said.join('\n')}`)
    return { address, stop, tail: () => said.join('\n') }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The configuration of OpenTofu for this server, as the command line prints it. */
export function tofuConfig(address: string, hostname: string): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [main, 'config', 'tofu', '--public-url', address, '--hostname', hostname],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`purser config tofu failed: ${stderr}`)
  return stdout
}

async function within<T>(work: Promise<T>, complaint: () => string): Promise<T> {
  const limit = new AbortController()
  const late = delay(startLimitMs, undefined, { signal: limit.signal }).then(() => {
    throw new Error(complaint())
  })
  try {
    return await Promise.race([work, late])
  } finally {
    limit.abort()
    late.catch(() => undefined)
  }
}

async function ready(address: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${address}/readyz`).catch(() => undefined)
    if (response?.ok) return
    await delay(50)
  }
}
