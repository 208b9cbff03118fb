import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { openApiPage } from '../scripts/openapi-page.ts'

test('docs/openapi.json is what the routes say (else: npm run docs)', () => {
  const file = resolve(import.meta.dirname, '../docs/openapi.json')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(openApiPage()))
})
