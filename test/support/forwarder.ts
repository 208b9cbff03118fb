import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** The simple query `commit`, as pg sends it. */
const COMMIT = Buffer.from('Q\0\0\0\u000bcommit\0', 'latin1')

/** How Purser begins a transaction. The statements in it may be prepared, so that their text is not sent again. */
const BEGIN_READ = 'begin isolation level repeatable read'
const BEGIN_WRITE = 'begin isolation level read committed'

/** The statements before a commit may come with it. */
function isCommit(bytes: Buffer): boolean {
  return bytes.subarray(-COMMIT.length).equals(COMMIT)
}

type Pair = { client: Socket; server: Socket; isSwallowed: boolean; isWriting: boolean }

/** A proxy between Purser and its database that fails like a network. */
export class Forwarder {
  readonly #server: Server
  #target: number
  readonly #pairs = new Set<Pair>()
  #isSwallowing = false
  #commits = 0
  #cutAt: { commit: number; when: 'before' | 'after' } | undefined
  /** How often a client sent something after it had received something. */
  roundTrips = 0

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer((client) => this.#accept(client))
  }

  static async start(target: number): Promise<Forwarder> {
    const forwarder = new Forwarder(target)
    await new Promise<void>((resolve) => forwarder.#server.listen(0, '127.0.0.1', resolve))
    return forwarder
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get connections(): number {
    return this.#pairs.size
  }

  /** Where new connections go, as when a name points to another server. */
  set target(port: number) {
    this.#target = port
  }

  /** Breaks every connection, or a random share of them. */
  cut(share = 1): void {
    for (const { client, server } of this.#pairs) {
      if (Math.random() >= share) continue
      client.destroy()
      server.destroy()
    }
  }

  /**
   * Acts as a black hole: accepts connections and keeps them open, but forwards nothing. Connections that exist now
   * never forward anything again, even after `heal`.
   */
  swallow(): void {
    this.#isSwallowing = true
    for (const pair of this.#pairs) pair.isSwallowed = true
  }

  heal(): void {
    this.#isSwallowing = false
  }

  /** Cuts the connection that sends the n-th commit of a write from now: before the server gets it, or instead of the answer. */
  cutAtCommit(n: number, when: 'before' | 'after'): void {
    this.#cutAt = { commit: this.#commits + n, when }
  }

  get hasCut(): boolean {
    return this.#cutAt === undefined
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1')
    const pair: Pair = { client, server, isSwallowed: this.#isSwallowing, isWriting: false }
    this.#pairs.add(pair)
    let isClientsTurn = true
    /** What the server has answered since the commit whose answer is cut. */
    let withheld: string | undefined
    const end = () => {
      // The other side must not see that this one has closed.
      if (pair.isSwallowed) return
      this.#pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server])
      socket
        .setNoDelay(true)
        .on('error', () => {})
        .on('close', end)
    client.on('data', (bytes) => {
      if (pair.isSwallowed) return
      if (bytes.includes(BEGIN_WRITE)) pair.isWriting = true
      else if (bytes.includes(BEGIN_READ)) pair.isWriting = false
      const when = pair.isWriting && isCommit(bytes) ? this.#atCommit() : undefined
      if (when === 'before') return end()
      if (when === 'after') withheld = ''
      if (isClientsTurn) this.roundTrips += 1
      isClientsTurn = false
      server.write(bytes)
    })
    server.on('data', (bytes) => {
      if (pair.isSwallowed) return
      isClientsTurn = true
      if (withheld === undefined) {
        client.write(bytes)
        return
      }
      // The answers to the statements before it may come first. If the connection ended then, nothing would be committed.
      withheld += bytes.toString('latin1')
      if (/(COMMIT|ROLLBACK)\0/.test(withheld)) end()
    })
  }

  #atCommit(): 'before' | 'after' | undefined {
    this.#commits += 1
    if (this.#commits !== this.#cutAt?.commit) return undefined
    const { when } = this.#cutAt
    this.#cutAt = undefined
    return when
  }
}
