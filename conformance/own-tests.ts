import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { count, folder, goTest, ownResults, type Tally } from './go.ts'

/** Reasons by name of a file or test. A `*` at the end of a file name matches anything. */
type Listed = Record<string, string>

/** Which of go-tfe's own tests run, and the reason for each that does not run, fails or skips. */
const lists = JSON.parse(readFileSync(join(folder, 'own-tests.json'), 'utf8')) as {
  files: string[]
  filesNotRun: Listed
  testsNotRun: Listed
  failing: Listed
  skipped: Listed
}

const PARALLEL = 4

/** The settings of the server that the tests expect. */
export const ownTestsSettings = { PURSER_DIALECT: 'current', PURSER_MAX_TAG_BINDINGS: '10' }

/**
 * Runs go-tfe's own tests of the platform against a server in the dialect `current`. Every test that fails or skips
 * itself must be listed, and every listed failure or skip must happen.
 */
export async function runOwnTests(address: string, adminToken: string, patterns: string[]): Promise<Tally> {
  const tally = { passed: 0, failed: 0 }
  const module = execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', 'github.com/hashicorp/go-tfe'], {
    cwd: join(folder, 'go-tfe'),
    encoding: 'utf8',
  }).trim()
  checkFiles(module, tally)
  const wanted = lists.files
    .flatMap((file) => testsIn(join(module, file)))
    .filter((name) => !Object.hasOwn(lists.testsNotRun, name))
    .filter((name) => patterns.length === 0 || patterns.some((pattern) => new RegExp(pattern).test(name)))
  if (wanted.length === 0) return tally
  const platform = await startPlatform(address)
  try {
    const environment = await environmentOf(address, platform.address, adminToken)
    const args = ['-vet=off', `-parallel=${PARALLEL}`, '-run', `^(${wanted.join('|')})$`, '.']
    const { results, outputs, complaints } = await goTest(module, args, environment)
    if (results.size === 0) count(tally, "go-tfe's own tests", false, complaints)
    judge(ownResults(results), outputs, new Set(wanted), tally)
  } finally {
    platform.stop()
  }
  return tally
}

/** Each test file of the client must be listed as run, or as left out with a reason. Each listed file must exist. */
function checkFiles(module: string, tally: Tally): void {
  const files = readdirSync(module).filter((name) => name.endsWith('_integration_test.go'))
  const isListed = (file: string, listed: string) =>
    listed.endsWith('*') ? file.startsWith(listed.slice(0, -1)) : file === listed
  const all = [...lists.files, ...Object.keys(lists.filesNotRun)]
  for (const file of files) {
    const by = all.filter((listed) => isListed(file, listed))
    if (by.length !== 1) count(tally, `${file} is listed ${by.length} times in own-tests.json`, false, '')
  }
  for (const listed of all) {
    if (!files.some((file) => isListed(file, listed))) count(tally, `there is no ${listed}`, false, '')
  }
  const tests = new Set(lists.files.flatMap((file) => testsIn(join(module, file))))
  for (const name of Object.keys(lists.testsNotRun)) {
    if (!tests.has(name)) count(tally, `there is no test ${name}`, false, '')
  }
}

function testsIn(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^func (Test\w+)\(/gm)].map(([, name]) => name as string)
}

/** Compares the results with the lists, in both directions. */
function judge(
  results: Map<string, string>,
  outputs: Map<string, string>,
  wanted: Set<string>,
  tally: Tally,
): void {
  const expected = new Map([
    ...Object.keys(lists.failing).map((name) => [name, 'fail'] as const),
    ...Object.keys(lists.skipped).map((name) => [name, 'skip'] as const),
  ])
  for (const [full, result] of results) {
    const name = full.replace(/^\S+ /, '')
    const wish = expected.get(name) ?? 'pass'
    expected.delete(name)
    count(
      tally,
      `${name}: ${result}, and not ${wish} as in own-tests.json`,
      result === wish,
      outputs.get(full) ?? '',
    )
  }
  for (const [name, wish] of expected) {
    const [test = ''] = name.split('/')
    if (wanted.has(test)) count(tally, `${name}, listed to ${wish}, was not there`, false, '')
  }
}

/** Creates a user for the tests. A site administrator would never get the refusals that the tests expect. */
async function environmentOf(
  server: string,
  platform: string,
  adminToken: string,
): Promise<NodeJS.ProcessEnv> {
  const post = async (path: string, data: object): Promise<{ id: string; attributes: { token: string } }> => {
    const answer = await fetch(`${server}/api/v2${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/vnd.api+json' },
      body: JSON.stringify({ data }),
    })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return ((await answer.json()) as { data: { id: string; attributes: { token: string } } }).data
  }
  const attributes = { username: 'go-tfe', email: 'go-tfe@example.com' }
  const user = await post('/admin/users', { type: 'users', attributes })
  const token = await post(`/users/${user.id}/authentication-tokens`, { type: 'authentication-tokens' })
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(TFE_|TFC_|GITHUB_|OAUTH_|HYOK_|ENABLE_)/.test(name),
  )
  return {
    ...Object.fromEntries(inherited),
    TFE_ADDRESS: platform,
    TFE_TOKEN: token.attributes.token,
    TFE_ADMIN_PROVISION_LICENSES_TOKEN: adminToken,
    ENABLE_BETA: '1',
  }
}

/** A proxy to the server. It also answers the two endpoints that sell plans, which Purser does not have. */
async function startPlatform(address: string): Promise<{ address: string; stop: () => void }> {
  const target = new URL(address)
  const server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming
    if (/^\/api\/v2\/admin\/(feature-sets|organizations\/[^/]+\/subscription)(\?|$)/.test(url)) {
      incoming.resume()
      const data = url.includes('feature-sets') ? [{ type: 'feature-sets', id: 'fs-any' }] : null
      outgoing.end(JSON.stringify({ data }))
      return
    }
    const { hostname, port } = target
    const passed = request({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { address: `http://127.0.0.1:${port}`, stop }
}
