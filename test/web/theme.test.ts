import { describe, expect, test } from 'vitest'
import { expectWellMade } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'

const BACKGROUND = 'getComputedStyle(document.documentElement).backgroundColor'
const LIGHT = 'rgb(250, 250, 247)'
const DARK = 'rgb(15, 22, 21)'

describe('the theme of the pages', () => {
  const pages = usePages()

  test('is the one of the system, or what the reader chose, on every later page', async () => {
    const tab = await pages.signIn('owner')
    const { page } = tab
    const background = () => page.evaluate(BACKGROUND)
    expect(await background()).toBe(LIGHT)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await background()).toBe(DARK)
    await page.emulateMedia({ colorScheme: 'light' })

    await page.getByRole('link', { name: pages.usernameOf('owner') }).click()
    await page.getByRole('radio', { name: 'as the system' }).focus()
    await page.keyboard.press('ArrowUp')
    expect(await page.getByRole('radio', { name: 'dark' }).isChecked()).toBe(true)
    expect(await background()).toBe(DARK)
    await expectWellMade(tab)
    await page.goto(`${pages.address}/workspaces`, { waitUntil: 'commit' })
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await page.getByRole('heading', { name: 'Workspaces' }).waitFor()
    expect(await background()).toBe(DARK)

    await page.goto(`${pages.server.address}/app/~/account`)
    await page.getByRole('radio', { name: 'as the system' }).check()
    expect(await background()).toBe(LIGHT)
    await page.reload()
    await page.getByRole('radio', { name: 'as the system' }).waitFor()
    expect(await page.locator('html').getAttribute('data-theme')).toBeNull()
    expect(tab.complaints).toEqual([])
  })

  test('is light on paper', async () => {
    const { page, context } = await pages.signIn('owner')
    await context.addCookies([{ name: 'purser-theme', value: 'dark', url: `${pages.server.address}/app` }])
    await page.goto(`${pages.address}/workspaces`)
    await page.getByRole('heading', { name: 'Workspaces' }).waitFor()
    const text = () => page.evaluate<string>('getComputedStyle(document.body).color')
    expect(await text()).toBe('rgb(229, 235, 232)')
    await page.emulateMedia({ media: 'print' })
    expect(await text()).toBe('rgb(23, 33, 31)')
  })

  test('is in the document, whose ETag is another one for each theme', async () => {
    const etags = new Set<string>()
    for (const [cookie, theme] of [
      ['', null],
      ['purser-theme=light', 'light'],
      ['other=1; purser-theme=dark; more=2', 'dark'],
      ['purser-theme=pink', null],
      ['not-purser-theme=dark', null],
    ] as const) {
      const answer = await fetch(`${pages.server.address}/app/`, { headers: { cookie } })
      const text = await answer.text()
      expect(/data-theme="(.*?)"/.exec(text)?.[1] ?? null, cookie).toBe(theme)
      expect(answer.headers.get('vary')).toBe('accept-encoding, cookie')
      const etag = answer.headers.get('etag') ?? ''
      etags.add(etag)
      const known = await fetch(`${pages.server.address}/app/`, {
        headers: { cookie, 'if-none-match': etag },
      })
      expect(known.status).toBe(304)
    }
    expect(etags.size).toBe(3)
  })
})
