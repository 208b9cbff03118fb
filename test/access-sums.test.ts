import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { accessPage } from '../scripts/access-sums.ts'

test('the tables of docs/access.md are what the rules say (else: npm run docs)', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../docs/access.md'), 'utf8')
  expect(accessPage(page)).toBe(page)
})
