import { readFileSync, writeFileSync } from 'node:fs'
import { rawRoutes, routes } from '../src/app.ts'

/** For each operation and client, the test that shows it. */
type Recorded = Record<string, Record<string, string>>

const file = new URL('requests.json', import.meta.url)

/**
 * Writes conformance/requests.json, from which docs/compatibility.md is generated. The notes have client, test, method
 * and path of each request. If several tests send a request, it takes the test with the fewest other requests.
 */
export function writeRecorded(notes: string): void {
  const operationsOf = new Map<string, Set<string>>()
  for (const line of readFileSync(notes, 'utf8').split('\n')) {
    const [client, test, method = '', path = ''] = line.split('\t')
    const operation = operationOf(method, path)
    if (operation === undefined) continue
    const key = `${client}\t${test}`
    operationsOf.set(key, (operationsOf.get(key) ?? new Set()).add(operation))
  }
  const recorded: Recorded = {}
  const byWidth = [...operationsOf].toSorted(
    ([one, ones], [other, others]) => ones.size - others.size || (one < other ? -1 : 1),
  )
  for (const [key, operations] of byWidth) {
    const [client = '', test = ''] = key.split('\t')
    for (const operation of operations) (recorded[operation] ??= {})[client] ??= test
  }
  const inOrder = <T>(record: Record<string, T>) =>
    Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  const content = inOrder(
    Object.fromEntries(Object.entries(recorded).map(([operation, tests]) => [operation, inOrder(tests)])),
  )
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
}

const served = [
  ...routes.map(({ method, path }) => ({ method, path: `/api/v2${path}` })),
  ...rawRoutes.map(({ method, path }) => ({ method, path })),
]
  // Literal paths come before paths with parameters, as in the router.
  .toSorted((one, other) => one.path.split(':').length - other.path.split(':').length)
  .map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/:[a-z_]+/g, '[^/]+')}$`),
    name: `${method} ${path.replace(/^\/api\/v2/, '')}`,
  }))

function operationOf(method: string, path: string): string | undefined {
  return served.find((route) => route.method === method && route.pattern.test(path))?.name
}
