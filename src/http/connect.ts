import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

// An import would read every export of the module, which loads the code of `fetch` into memory.
const { ServerResponse: HttpResponse } = process.getBuiltinModule('node:http')

/**
 * Answers CONNECT as any other unknown method, and ends the connection. Node gives the socket of such a request away, with
 * no response and without listeners: an error on it would end the process.
 */
export function answerConnect(server: Server, request: IncomingMessage, socket: Socket): void {
  socket.on('error', () => socket.destroy())
  const response = new HttpResponse(request)
  response.shouldKeepAlive = false
  response.on('finish', () => socket.destroySoon())
  try {
    response.assignSocket(socket)
  } catch {
    // It still belongs to the answer to an earlier request, and whoever sends CONNECT waits for its answer first.
    socket.destroy()
    return
  }
  server.emit('request', request, response)
}
