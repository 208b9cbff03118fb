import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { settingsPage } from '../scripts/settings-page.ts'

test('docs/settings.md is what the settings say (else: npm run docs)', () => {
  const file = resolve(import.meta.dirname, '../docs/settings.md')
  expect(readFileSync(file, 'utf8')).toBe(settingsPage())
})
