import { expect, onTestFinished, test, vi } from 'vitest'
import { startServer } from './support/server.ts'

const state = vi.hoisted(() => ({ reads: 0 }))

vi.mock(import('../src/web-pages/pages.ts'), async (original) => {
  const real = await original()
  return {
    ...real,
    readPages: () => {
      state.reads += 1
      if (state.reads === 1) throw new Error('EMFILE: too many open files')
      return real.readPages()
    },
  }
})

test('pages whose files cannot be read are 503, and are read again at the next request', async () => {
  const server = await startServer('sqlite')
  onTestFinished(() => server.stop())
  const get = () => fetch(`${server.address}/app`)
  const refused = await get()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await refused.text()).toContain('the files of the pages cannot be read')
  expect(await (await get()).text()).not.toContain('the files of the pages cannot be read')
  expect(state.reads).toBe(2)
})
