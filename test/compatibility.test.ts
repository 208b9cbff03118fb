import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compatibilityPage, programs } from './support/compatibility-page.ts'

const file = new URL('../docs/compatibility.md', import.meta.url)

test('docs/compatibility.md is up to date (npm run docs prints it)', () => {
  const page = compatibilityPage()
  if (process.env.PURSER_TEST_UPDATE === '1') writeFileSync(file, page)
  expect(page).toBe(readFileSync(file, 'utf8'))
})

test('the programs that the page names are there', () => {
  const folder = new URL('../conformance/', import.meta.url)
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('_test.go'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('')
  const named = new Set(Object.values(programs).flatMap((tests) => Object.values(tests)))
  const missing = [...named].filter((name) => !sources.includes(`func ${name.split('/')[0]}(`))
  expect(missing, 'npm run conformance -- --record names them anew').toEqual([])
})
