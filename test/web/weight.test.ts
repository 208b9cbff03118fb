import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const BUILT = join(import.meta.dirname, '../../dist/web')
/** Bytes of script and style that any first page needs, compressed. The limit is 200 kB; this keeps some in reserve. */
const MOST = 150_000

test('the script and style of the first page are small', () => {
  const shell = readFileSync(join(BUILT, 'index.html'), 'utf8')
  const names = [...shell.matchAll(/assets\/([^"]+)"/g)].map(([, name = '']) => name)
  expect(names.filter((name) => name.endsWith('.js'))).not.toEqual([])
  const bytes = names.reduce(
    (sum, name) => sum + gzipSync(readFileSync(join(BUILT, 'assets', name))).length,
    0,
  )
  expect(bytes).toBeLessThan(MOST)
})
