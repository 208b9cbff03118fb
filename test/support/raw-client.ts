import { connect, type Socket } from 'node:net'

/** The answer. `status` is undefined if the connection was closed without one. */
export type RawAnswer = { status: number | undefined; headers: Map<string, string>; body: Buffer }

export type RawRequest = {
  bytes: Buffer
  /** For HEAD, whose answer has no body, whatever its headers say. */
  isHead?: boolean
  /** The client closes the connection after these bytes. */
  endsEarly?: boolean
}

const NOTHING: RawAnswer = { status: undefined, headers: new Map(), body: Buffer.alloc(0) }

/** A connection that can send any bytes. It reconnects if the server has closed it. */
export class RawClient {
  readonly #port: number
  #socket: Socket | undefined

  constructor(port: number) {
    this.#port = port
  }

  close(): void {
    this.#socket?.destroy()
  }

  send({ bytes, isHead = false, endsEarly = false }: RawRequest): Promise<RawAnswer> {
    const socket = (this.#socket ??= connect({ port: this.#port, host: '127.0.0.1', noDelay: true }))
    return new Promise((resolve) => {
      let received: Buffer = Buffer.alloc(0)
      const finish = (answer: RawAnswer, isOpen: boolean) => {
        socket.removeAllListeners()
        // Ignore late errors of a connection that is no longer used.
        socket.on('error', () => {})
        if (!isOpen || endsEarly || answer.headers.get('connection') === 'close') {
          socket.destroy()
          this.#socket = undefined
        }
        resolve(answer)
      }
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk])
        const answer = parseAnswer(received, isHead, false)
        if (answer !== undefined) finish(answer, true)
      })
      const closed = () => finish(parseAnswer(received, isHead, true) ?? NOTHING, false)
      socket.on('close', closed)
      socket.on('error', () => {})
      socket.write(bytes)
      if (endsEarly) socket.end()
    })
  }
}

/** The answer at the start of the bytes. Undefined while it is incomplete. */
function parseAnswer(bytes: Buffer, isHead: boolean, isEnd: boolean): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const status = Number(statusLine.split(' ')[1])
  const rest = bytes.subarray(end + 4)
  if (status >= 100 && status < 200) return parseAnswer(rest, isHead, isEnd)
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const body = bodyOf(rest, status, headers, isHead, isEnd)
  return body === undefined ? undefined : { status, headers, body }
}

function bodyOf(
  rest: Buffer,
  status: number,
  headers: ReadonlyMap<string, string>,
  isHead: boolean,
  isEnd: boolean,
): Buffer | undefined {
  if (isHead || status === 204 || status === 304) return Buffer.alloc(0)
  if (headers.get('transfer-encoding') === 'chunked') return unchunked(rest)
  const length = headers.get('content-length')
  if (length === undefined) return isEnd ? rest : undefined
  return rest.length >= Number(length) ? rest.subarray(0, Number(length)) : undefined
}

function unchunked(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const end = line + 2 + size
    if (bytes.length < end + 2) return undefined
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(line + 2, end))
    at = end + 2
  }
}
