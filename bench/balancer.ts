// A balancer in a process of its own: each connection goes to the next node.
import { connect, createServer, type AddressInfo } from 'node:net'
import { answerQuestions } from './child.ts'

let ports: readonly number[] = []
let next = 0

const server = createServer((client) => {
  const node = connect(ports[next++ % ports.length] ?? 0, '127.0.0.1')
  client.setNoDelay()
  node.setNoDelay()
  client.pipe(node).pipe(client)
  client.on('error', () => node.destroy())
  node.on('error', () => client.destroy())
})
process.once('SIGTERM', () => process.exit(0))

answerQuestions({
  /** Takes the ports of the nodes. Returns its own. */
  listen: (nodes: readonly number[]) =>
    new Promise((resolve) => {
      ports = nodes
      if (server.listening) resolve((server.address() as AddressInfo).port)
      else server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    }),
})
