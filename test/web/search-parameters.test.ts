import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import * as searches from '../../web/searches.ts'
import { PASSWORD, usePages } from '../support/pages.ts'
import { createTestOrganization } from '../support/world.ts'

type Given = Record<string, unknown>
type Read = (given: Given) => Given

const routes = readFileSync(join(import.meta.dirname, '../../web/routes.tsx'), 'utf8')
const readers = new Map(
  Object.entries(searches).flatMap(([name, one]): [string, Read][] =>
    typeof one === 'function' ? [[name, one]] : [],
  ),
)
const ELSEWHERE = [
  '//evil.example',
  'https://evil.example/app',
  'javascript:alert(1)',
  '/\\evil.example',
  '/\t/evil.example',
  '\\\\evil.example',
  ' //evil.example',
  '/\n/evil.example',
]
const HOSTILE: readonly unknown[] = [
  ...ELSEWHERE,
  {},
  [],
  ['x'],
  { toString: 'x' },
  null,
  true,
  -1,
  1.5,
  1e300,
  '',
]

test('every page reads the parameters of its address by one of the functions for them', () => {
  const named = Array.from(routes.matchAll(/validateSearch: (?:searches\.)?(.*),/g), ([, name = '']) => name)
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name) => !readers.has(name))).toEqual([])
})

test.each([...readers])('what %s does not accept does not reach a page', (_, read) => {
  const names: string[] = []
  const watched = new Proxy<Given>({}, { get: (_target, name) => void names.push(String(name)) })
  read(watched)
  expect(names).not.toEqual([])
  for (const value of HOSTILE) {
    const given = Object.fromEntries(names.map((name) => [name, value]))
    // The router lays the result over what is in the address.
    const shown = { ...given, ...read(given) }
    for (const name of names)
      expect(['undefined', 'string', 'number', 'boolean']).toContain(typeof shown[name])
    expect([undefined, 2]).toContain(shown['page'] ?? undefined)
    if ('next' in shown) expect(shown['next']).toBeUndefined()
  }
})

describe('after a sign-in', () => {
  const pages = usePages()
  beforeAll(async () => {
    const several = await createTestOrganization(pages.server)
    await pages.add('several', several.owner)
    const more = {
      data: { type: 'organizations', attributes: { name: `${several.name}-2`, email: 'o@example.com' } },
    }
    await several.owner.client.post('/organizations', more)
  })
  const signIn = async (who: string, address: string) => {
    const { page, complaints } = await pages.open()
    await page.goto(address)
    await page.getByLabel('User name or email').fill(pages.usernameOf(who))
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(complaints).toEqual([])
    return page
  }

  test('nobody is sent to another address than one of the pages', async () => {
    for (const next of ELSEWHERE) {
      for (const written of [next, JSON.stringify(next)]) {
        const address = `${pages.server.address}/app/~/sign-in?next=${encodeURIComponent(written)}`
        const page = await signIn('several', address)
        expect(page.url()).toMatch(`${pages.server.address}/app`)
        expect(page.url()).not.toContain('evil')
        await page.context().close()
      }
    }
  })

  test('somebody with one organization is there, and somebody with several chooses', async () => {
    const { address } = pages.server
    const page = await signIn('owner', `${address}/app`)
    await page.getByRole('heading', { name: 'Workspaces' }).waitFor()
    expect(page.url()).toBe(`${pages.address}/workspaces`)
    await expect.poll(() => page.title()).toBe(`Workspaces · ${pages.organization.name} · Purser`)
    const choice = await signIn('several', `${address}/app`)
    await choice.getByRole('heading', { name: 'Organizations' }).waitFor()
  })
})
