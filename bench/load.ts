// The load generator, in its own process: keep-alive sockets with one request at a time each, no pipelining.
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import net from 'node:net'
import { answerQuestions } from './child.ts'

export type Job = {
  port: number
  connections: number
  /** Complete HTTP requests. They are sent in turn; each connection starts at another position. */
  requests: string[]
  /** The latency group of each request. By default all are in group 0. */
  groups?: number[]
  /** The run ends after this time, after this many answers, or on a stop, whichever comes first. */
  durationMs?: number
  count?: number
  /** Whether the load generator leaves its CPU to others while it waits. */
  maySleep?: boolean
  /** The least time between two requests of a connection. */
  everyMs?: number
}

export type Latency = { count: number; p50: number; p99: number; p999: number; max: number }

export type JobResult = {
  answers: number
  seconds: number
  /** The number of answers per status. */
  statuses: Record<string, number>
  /** In milliseconds, per group of requests. */
  latencies: Latency[]
}

const HEAD_END = Buffer.from('\r\n\r\n')
/** The end of a chunked answer. JSON contains no such bytes, and a connection has one request at a time. */
const LAST_CHUNK = '\r\n0\r\n\r\n'
const READ_BYTES = 256 * 1024

class Run {
  readonly job: Job
  readonly histograms: RecordableHistogram[]
  readonly requests: Buffer[]
  readonly statuses: Record<string, number> = {}
  #sent = 0
  answers = 0
  #running = 0
  #ended: (error?: Error) => void = () => {}
  isStopped = false

  constructor(job: Job) {
    this.job = job
    this.requests = job.requests.map((text) => Buffer.from(text))
    const groups = Math.max(0, ...(job.groups ?? [])) + 1
    this.histograms = Array.from({ length: groups }, () => createHistogram())
  }

  /** The next request to send. Undefined if the run is over. */
  take(): number | undefined {
    if (this.isStopped || (this.job.count !== undefined && this.#sent >= this.job.count)) return undefined
    this.#sent += 1
    return (this.#sent - 1) % this.requests.length
  }

  answered(request: number, status: string, milliseconds: number): void {
    this.answers += 1
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    const group = this.job.groups?.[request] ?? 0
    this.histograms[group]?.record(Math.max(1, Math.round(milliseconds * 1e6)))
  }

  done(error?: Error): void {
    this.#running -= 1
    if (error !== undefined || this.#running === 0) this.#ended(error)
  }

  async run(): Promise<JobResult> {
    const connections = await Promise.all(
      Array.from({ length: this.job.connections }, () => Connection.open(this)),
    )
    const start = performance.now()
    const finished = new Promise<void>((resolve, reject) => {
      this.#ended = (error) => (error === undefined ? resolve() : reject(error))
    })
    this.#running = connections.length
    const timer = setTimeout(() => (this.isStopped = true), this.job.durationMs ?? 2 ** 31 - 1)
    for (const connection of connections) connection.next()
    // Keep the event loop busy: waking a sleeping process is expensive, and a slower server would do it more often.
    // Beside PostgreSQL this would take the CPU that its processes need.
    let isOver = this.job.maySleep === true
    const stayAwake = () => void (isOver || setImmediate(stayAwake))
    stayAwake()
    try {
      await finished
    } finally {
      isOver = true
      clearTimeout(timer)
      for (const connection of connections) connection.close()
    }
    const seconds = (performance.now() - start) / 1000
    return {
      answers: this.answers,
      seconds,
      statuses: this.statuses,
      latencies: this.histograms.map(latencyOf),
    }
  }
}

/** A keep-alive connection. Parses answers with a content-length, in chunks, or without a body. */
class Connection {
  readonly #run: Run
  readonly #socket: net.Socket
  #request = 0
  #sentAt = 0
  #status = ''
  /** Bytes of the body still to come; infinite for chunks. Undefined while the head is still incomplete. */
  #left: number | undefined
  /** The last bytes of a chunked answer so far. */
  #tail = ''
  #head: Buffer | undefined
  #isClosed = false

  private constructor(run: Run, onConnect: () => void) {
    this.#run = run
    this.#socket = net.connect({
      port: run.job.port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(READ_BYTES),
        callback: (length, buffer) => {
          this.#read(buffer as Buffer, length)
          return true
        },
      },
    })
    this.#socket.once('connect', onConnect)
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the server closed a connection')))
  }

  static open(run: Run): Promise<Connection> {
    return new Promise((resolve) => {
      const connection = new Connection(run, () => resolve(connection))
    })
  }

  next(): void {
    const request = this.#run.take()
    if (request === undefined) return this.#run.done()
    this.#request = request
    this.#sentAt = performance.now()
    this.#socket.write(this.#run.requests[request] as Buffer)
  }

  close(): void {
    this.#isClosed = true
    this.#socket.destroy()
  }

  #fail(error: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#run.done(error)
  }

  #read(buffer: Buffer, length: number): void {
    if (this.#left === undefined) {
      const chunk =
        this.#head === undefined ? buffer : Buffer.concat([this.#head, buffer.subarray(0, length)])
      const end = chunk.indexOf(HEAD_END)
      const size = this.#head === undefined ? length : chunk.length
      if (end === -1 || end > size) {
        this.#head = Buffer.from(chunk.subarray(0, size))
        return
      }
      this.#head = undefined
      this.#left = bodyLength(chunk.toString('latin1', 0, end)) - (size - end - HEAD_END.length)
      this.#status = chunk.toString('latin1', 9, 12)
      this.#tail = tailOf(chunk, size)
    } else {
      this.#left -= length
      if (this.#left === Infinity)
        this.#tail = (this.#tail + tailOf(buffer, length)).slice(-LAST_CHUNK.length)
    }
    if (this.#left > 0 && !(this.#left === Infinity && this.#tail === LAST_CHUNK)) return
    this.#left = undefined
    const milliseconds = performance.now() - this.#sentAt
    this.#run.answered(this.#request, this.#status, milliseconds)
    const { everyMs } = this.#run.job
    if (everyMs === undefined || milliseconds >= everyMs) this.next()
    else setTimeout(() => this.next(), everyMs - milliseconds)
  }
}

function bodyLength(head: string): number {
  const match = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (match !== null) return Number(match[1])
  return /\r\ntransfer-encoding: *chunked/i.test(head) ? Infinity : 0
}

function tailOf(buffer: Buffer, length: number): string {
  return buffer.toString('latin1', Math.max(0, length - LAST_CHUNK.length), length)
}

function latencyOf(histogram: RecordableHistogram): Latency {
  const milliseconds = (nanoseconds: number) => nanoseconds / 1e6
  return {
    count: histogram.count,
    p50: milliseconds(histogram.percentile(50)),
    p99: milliseconds(histogram.percentile(99)),
    p999: milliseconds(histogram.percentile(99.9)),
    max: milliseconds(histogram.max),
  }
}

const runs = new Set<Run>()

answerQuestions({
  run: async (job: Job) => {
    const run = new Run(job)
    runs.add(run)
    try {
      return await run.run()
    } finally {
      runs.delete(run)
    }
  },
  stop: async () => {
    for (const run of runs) run.isStopped = true
  },
})
