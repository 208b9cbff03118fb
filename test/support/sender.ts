import { connect, type Socket } from 'node:net'

export type SentRequest = {
  method: string
  /** A path below the address, or a whole URL. */
  path: string
  token?: string | undefined
  /** Undefined means chunked. */
  length?: number
}

/** A request that is sent in pieces, or never completely, and the answer to it. */
export class Sender {
  readonly socket: Socket
  readonly #isChunked: boolean
  readonly #end = Promise.withResolvers<void>()
  received = ''

  constructor(address: string, { method, path, token, length }: SentRequest) {
    const { port, pathname } = new URL(path, address)
    this.#isChunked = length === undefined
    this.socket = connect({ port: Number(port || new URL(address).port), host: '127.0.0.1', noDelay: true })
    this.socket.on('error', () => {})
    this.socket.on('data', (bytes: Buffer) => {
      this.received += bytes.toString('latin1')
      if (this.status !== undefined) this.#end.resolve()
    })
    this.socket.on('close', () => this.#end.resolve())
    const head = [
      `${method} ${pathname} HTTP/1.1`,
      'Host: x',
      'Content-Type: application/vnd.api+json',
      ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
      length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    ]
    this.socket.write(`${head.join('\r\n')}\r\n\r\n`)
  }

  /** Sends a part of the body. Resolves when the system has accepted it. */
  send(bytes: Uint8Array | string): Promise<void> {
    const part = Buffer.from(bytes)
    const framed = this.#isChunked
      ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
      : part
    return new Promise((resolve) => this.socket.write(framed, () => resolve()))
  }

  end(): void {
    if (this.#isChunked) this.socket.write('0\r\n\r\n')
  }

  get status(): number | undefined {
    const found = /^HTTP\/1\.1 ([2-5]\d\d) /m.exec(this.received)
    return found === null ? undefined : Number(found[1])
  }

  /** Waits for the status of the answer. Undefined if the connection ended without one. */
  async answered(): Promise<number | undefined> {
    await this.#end.promise
    return this.status
  }

  stop(): void {
    this.socket.destroy()
  }
}
