import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'

const run = promisify(execFile)

/** The shell blocks of a page, in order. */
function shellBlocks(page: string): string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
}

describe.each(engines)('the README on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(engine)
  })
  afterAll(() => server.stop())

  test('its three minutes end with outputs for somebody who may not have the state', async () => {
    const blocks = shellBlocks('README.md')
    expect(blocks).toHaveLength(4)
    mkdirSync(join(server.folder, 'data'))
    writeFileSync(join(server.folder, 'data', 'admin-token'), `${server.admin.token}\n`)
    const script = ['set -euo pipefail', ...blocks].join('\necho\n')
    const typed = script.replaceAll('http://127.0.0.1:4567', server.address)
    const { stdout, stderr } = await run('bash', ['-c', typed], { cwd: server.folder })
    expect(stderr).toBe('')
    const answers = stdout
      .replaceAll('}{', '}\n{')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
    const errors = answers.slice(0, -1).filter((answer) => answer.errors !== undefined)
    expect(errors).toEqual([])
    const [outputs, state] = answers.slice(-2)
    const values = outputs.data.map((output: { attributes: { name: string; value: unknown } }) => [
      output.attributes.name,
      output.attributes.value,
    ])
    expect(values).toEqual([
      ['address', '10.0.0.1'],
      ['password', null],
    ])
    expect(state).toEqual({ errors: [{ status: '404', title: 'not found' }] })
  })
})
