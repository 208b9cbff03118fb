import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from './support/server.ts'

const body = Buffer.alloc(7 * 1024 * 1024, 'x')
const framings = {
  'content-length': [`Content-Length: ${body.length}\r\n\r\n`, body],
  chunked: ['Transfer-Encoding: chunked\r\n\r\n', `${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n'],
}

describe('a request that is refused before its body was read', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('sqlite')
  })
  afterAll(() => server.stop())

  test.each(Object.keys(framings) as (keyof typeof framings)[])(
    'reaches a client that sends all of it before it reads the answer: %s',
    async (framing) => {
      const socket = connect(Number(new URL(server.address).port), '127.0.0.1')
      let answer = ''
      socket.on('data', (bytes) => (answer += bytes.toString('latin1')))
      socket.on('error', () => {})
      const closed = once(socket, 'close')
      socket.pause()
      socket.write('POST /api/v2/organizations HTTP/1.1\r\nHost: x\r\n')
      await new Promise((resolve) => {
        const [last, ...others] = framings[framing].toReversed()
        for (const part of others.toReversed()) socket.write(part)
        socket.write(last as string, resolve)
      })
      socket.resume()
      await closed
      expect(answer).toMatch(/^HTTP\/1.1 401 /)
      expect(answer).toMatch(/connection: close/)
    },
  )
})
