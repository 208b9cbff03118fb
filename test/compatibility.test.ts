import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compatibilityPage } from './support/compatibility-page.ts'

const file = new URL('../docs/compatibility.md', import.meta.url)

test('docs/compatibility.md is up to date (npm run docs prints it)', () => {
  const page = compatibilityPage()
  if (process.env.PURSER_TEST_UPDATE === '1') writeFileSync(file, page)
  expect(page).toBe(readFileSync(file, 'utf8'))
})
