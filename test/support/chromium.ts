import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core'
import { afterAll, expect, onTestFinished } from 'vitest'

export const CHROMIUM = process.env.PURSER_TEST_CHROMIUM ?? '/usr/bin/chromium'
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// Scripts for the page are texts, because this code knows no document.
const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`
const runAxe = (
  rules: readonly string[],
) => `axe.run(${rules.length === 0 ? '' : JSON.stringify({ runOnly: rules })}).then(({ violations }) => violations.map(({ id, impact, nodes }) =>
  ({ id, impact, html: nodes.map(({ html }) => html).join(' ') })))`
const HAS_AXE = `typeof axe === 'object'`
const SIDEWAYS = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

/** A tab, with everything that went wrong in it. */
export type Tab = { readonly page: Page; readonly complaints: string[]; readonly context: BrowserContext }

/** Opens tabs of Debian's Chromium for the tests of a file. A tab is closed when its test ends: pages poll. */
export function useChromium(): () => Promise<Tab> {
  let browser: Promise<Browser> | undefined
  afterAll(async () => (await browser)?.close())
  return async () => {
    browser ??= chromium.launch({ executablePath: CHROMIUM })
    const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 } })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      // The browser reports answers of 400 and above itself; pages show them.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        complaints.push(message.text())
      }
    })
    await page.addInitScript(REPORT_VIOLATIONS)
    return { page, complaints, context }
  }
}

/** What axe finds on the page, except what it calls minor. Without rules it tries all. */
export async function accessibilityProblems(page: Page, rules: readonly string[] = []): Promise<string[]> {
  if ((await page.evaluate(HAS_AXE)) !== true) await page.evaluate(axeSource)
  const found = await page.evaluate<{ id: string; impact: string; html: string }[]>(runAxe(rules))
  return found
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, impact, html }) => `${impact} ${id}: ${html}`)
}

/** How many pixels of the page are beyond the right edge of a window of this width. */
export async function pixelsBeyond(page: Page, width: number): Promise<number> {
  await page.setViewportSize({ width, height: 800 })
  return page.evaluate<number>(SIDEWAYS)
}

/** A link of the bar ("Organization") or of the tabs of a page ("Project", "Team", "Workspace"). The bar has tabs' names too. */
export function linkOf(page: Page, navigation: string, name: string): Locator {
  return page
    .getByRole('navigation', { name: navigation, exact: true })
    .getByRole('link', { name, exact: true })
}

/** Checks what holds for every page: nothing went wrong, nothing to scroll sideways, nothing that axe finds. */
export async function expectWellMade({ page, complaints }: Tab): Promise<void> {
  for (const width of [360, 1280]) {
    expect(await pixelsBeyond(page, width), `at ${width} pixels`).toBeLessThanOrEqual(0)
    expect(await accessibilityProblems(page)).toEqual([])
  }
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await accessibilityProblems(page, ['color-contrast']), 'in dark colours').toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
  expect(complaints).toEqual([])
}
