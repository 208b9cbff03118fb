import { expect, test } from 'vitest'
import { createLog } from '../src/operation/log.ts'

test('an error is logged with its message, code and cause, and with nothing else that hangs on it', () => {
  let line = ''
  const log = createLog('info', { write: (text: string) => void (line += text) })
  const cause = Object.assign(new Error('refused'), {
    code: '23505',
    detail: 'Failing row contains (secret)',
  })
  log.warn({ error: new Error('it failed', { cause }) }, 'trying again')
  expect(JSON.parse(line)).toMatchObject({
    msg: 'trying again',
    error: { message: 'it failed', cause: { message: 'refused', code: '23505' } },
  })
  expect(line).toContain('log.test.ts')
  expect(line).not.toContain('secret')
})
