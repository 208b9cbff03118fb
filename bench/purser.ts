import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Engine } from '../src/database/portable.ts'
import { Child } from './child.ts'
import { environmentOf } from './engine.ts'
import type { Delay, Usage } from './observer.ts'

// Starts like `npm start`, which caches compiled code between starts. The observer's code is cached there, too.
const main = fileURLToPath(new URL('../bin/purser.cjs', import.meta.url))
const compileCache = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url))
const observer = new URL('./observer.ts', import.meta.url).href

export type Answer = { status: number; headers: Headers; text: string }

/** A running server: the real entry point on a data folder, plus only the observer. */
export class Purser {
  readonly child: Child
  readonly port: number

  private constructor(child: Child, port: number) {
    this.child = child
    this.port = port
  }

  static async start(engine: Engine, folder: string, execArgv: string[] = []): Promise<Purser> {
    const port = await freePort()
    const env = {
      ...process.env,
      ...environmentOf(engine, folder),
      PURSER_LISTEN: `127.0.0.1:${port}`,
      PURSER_DRAIN_SECONDS: '0',
      PURSER_LOG: 'warn',
      // The benchmarks write as fast as they can.
      PURSER_MAX_WRITES_PER_MINUTE: '10000000',
      NODE_COMPILE_CACHE: compileCache,
    }
    const child = new Child(main, 'server', {
      args: ['serve'],
      env,
      execArgv: [...execArgv, '--import', observer],
    })
    const purser = new Purser(child, port)
    while (!(await purser.#isReady())) {
      if (!child.isRunning) throw new Error(`the server does not start: ${child.output}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return purser
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(`http://127.0.0.1:${this.port}/readyz`)).ok
    } catch {
      return false
    }
  }

  usage(): Promise<Usage> {
    return this.child.ask<Usage>('usage')
  }

  startDelay(): Promise<void> {
    return this.child.ask('startDelay')
  }

  delay(): Promise<Delay> {
    return this.child.ask<Delay>('delay')
  }

  /** @param path below /api/v2, or a whole URL */
  async request(method: string, path: string, token: string, body?: unknown): Promise<Answer> {
    const url = path.startsWith('http') ? path : `http://127.0.0.1:${this.port}/api/v2${path}`
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  /** Like request, but throws if the answer is no success. */
  async must(method: string, path: string, token: string, body?: unknown): Promise<Answer> {
    const answer = await this.request(method, path, token, body)
    if (answer.status >= 300) {
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`)
    }
    return answer
  }

  stop(): Promise<void> {
    return this.child.stop()
  }
}

/** A complete HTTP request as text. */
export function wire(method: string, path: string, token: string, body?: unknown): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const head = [
    `${method} /api/v2${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    'Accept: application/vnd.api+json',
    ...(method === 'GET'
      ? []
      : ['Content-Type: application/vnd.api+json', `Content-Length: ${Buffer.byteLength(text)}`]),
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
