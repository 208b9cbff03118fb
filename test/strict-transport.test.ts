import { get } from 'node:https'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startServer } from './support/server.ts'

const HEADER = 'strict-transport-security'
const tls = (name: string) => resolve(import.meta.dirname, 'data/tls', name)

test('a server that ends TLS tells browsers to use https only, with every answer; another one says nothing', async () => {
  const secure = await startServer('sqlite', { tlsCert: tls('cert.pem'), tlsKey: tls('key.pem') })
  onTestFinished(() => secure.stop())
  const headerOf = (path: string) =>
    new Promise((done, failed) => {
      const url = `${secure.address.replace('http:', 'https:')}${path}`
      get(url, { rejectUnauthorized: false, agent: false }, (answer) => {
        answer.resume()
        done(answer.headers[HEADER])
      }).on('error', failed)
    })
  for (const path of ['/', '/healthz', '/app', '/api/v2/account/details', '/nothing']) {
    expect(await headerOf(path), path).toBe('max-age=31536000')
  }
  const plain = await startServer('sqlite')
  onTestFinished(() => plain.stop())
  expect((await fetch(`${plain.address}/healthz`)).headers.get(HEADER)).toBeNull()
})
