import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { permissionsPage } from '../scripts/permissions-page.ts'

test('docs/reference/permissions.md is what the rules say (else: npm run docs)', () => {
  const file = resolve(import.meta.dirname, '../docs/reference/permissions.md')
  expect(readFileSync(file, 'utf8')).toBe(permissionsPage())
})
