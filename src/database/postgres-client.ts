import { Socket } from 'node:net'
import { Client, type ClientConfig } from 'pg'

/** A connection that can be cut at any moment, also while it is being made or while the server does not answer. */
export class PostgresClient extends Client {
  readonly #socket: Socket
  /** Warnings without a code of their own: a commit that gets one is made here, and maybe nowhere else. */
  warnings = 0
  /** In the pool, and not one that is still connecting. */
  isIdle = false

  constructor(config?: ClientConfig) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.#socket = socket
    // A connection may break at any moment. The query under way fails with it; without a listener the process would end.
    this.on('error', () => {})
    this.on('notice', ({ code }) => {
      if (code === '01000') this.warnings += 1
    })
  }

  /** How much has arrived on it. */
  get bytesRead(): number {
    return this.#socket.bytesRead
  }

  /** What is under way fails with this error. */
  cut(error: Error): void {
    this.#socket.destroy(error)
  }
}
