import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/** What must not change: all but the line of the status. */
function hashOf(file: string): string {
  const text = readFileSync(join(root, 'docs/adr', file), 'utf8')
  return createHash('sha256')
    .update(text.replace(/^- \*\*Status:\*\* .*\n/m, ''))
    .digest('hex')
}

test('decision records that are in a release have not changed', () => {
  const released = readFileSync(join(root, 'test/data/released-records.txt'), 'utf8').trim().split('\n')
  expect(released.length).toBeGreaterThan(0)
  expect(released.map((line) => line.split('  ')[1] ?? '').map((file) => `${hashOf(file)}  ${file}`)).toEqual(
    released,
  )
})
