// Sends the requests of bench/timing.ts one after another, in its own process, and reports how long each took.
import net from 'node:net'
import { answerQuestions } from './child.ts'

/** Complete HTTP requests and their order. Requests of group -1 are sent but not measured. */
export type Probes = {
  port: number
  requests: string[]
  order: readonly (readonly [request: number, group: number])[]
}
export type Probed = { times: number[][]; statuses: number[][] }

/** Requests for a hidden and a missing object, and one of the caller's own, which is sent behind many of them. */
export type Bursts = {
  port: number
  hidden: string
  missing: string
  own: string
  pairs: number
  size: number
}
/** Milliseconds that each own request took, behind hidden and behind missing objects; and the statuses of all answers. */
export type BurstTimes = { hidden: number[]; missing: number[]; refused: number[]; own: number[] }

answerQuestions({
  probe: async ({ port, requests, order }: Probes): Promise<Probed> => {
    const socket = await connect(port)
    const times: number[][] = []
    const statuses: number[][] = []
    for (const [request, group] of order) {
      const { took, status } = await ask(socket, requests[request] as string)
      if (group < 0) continue
      ;(times[group] ??= []).push(took)
      ;(statuses[group] ??= []).push(status)
    }
    socket.destroy()
    return { times, statuses }
  },

  bursts: async ({ port, hidden, missing, own, pairs, size }: Bursts): Promise<BurstTimes> => {
    const sockets = await Promise.all(Array.from({ length: size }, () => connect(port)))
    const last = await connect(port)
    const times: BurstTimes = { hidden: [], missing: [], refused: [], own: [] }
    const burst = async (request: string): Promise<number> => {
      const probes = sockets.map((socket) => ask(socket, request))
      const { took, status } = await ask(last, own)
      times.own.push(status)
      for (const probe of await Promise.all(probes)) times.refused.push(probe.status)
      return took
    }
    for (let pair = 0; pair < pairs; pair += 1) {
      const order = pair % 2 === 0 ? (['hidden', 'missing'] as const) : (['missing', 'hidden'] as const)
      for (const kind of order) times[kind].push(await burst(kind === 'hidden' ? hidden : missing))
    }
    for (const socket of [...sockets, last]) socket.destroy()
    return times
  },
})

async function connect(port: number): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return socket
}

function ask(socket: net.Socket, request: string): Promise<{ took: number; status: number }> {
  return new Promise((resolve, reject) => {
    let text = ''
    const take = (bytes: Buffer) => {
      text += bytes.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end === -1) return
      const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
      const isOver =
        length === undefined
          ? !/chunked/i.test(text) || text.endsWith('0\r\n\r\n')
          : text.length >= end + 4 + Number(length)
      if (!isOver) return
      const took = performance.now() - start
      socket.off('data', take).off('error', reject)
      resolve({ took, status: Number(text.slice(9, 12)) })
    }
    socket.on('data', take).once('error', reject)
    const start = performance.now()
    socket.write(request)
  })
}
