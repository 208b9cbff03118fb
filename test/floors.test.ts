import { expect, test } from 'vitest'
import { sourceModules, type Import } from './support/source-modules.ts'

/** From the ground up. Rules and stores of a folder import only from folders above it in this list. */
const floors = [
  'core',
  'database',
  'jsonapi',
  'access',
  'audit',
  'organizations',
  'users',
  'teams',
  'organization-memberships',
  'tags',
  'tag-bindings',
  'projects',
  'workspaces',
  'team-access',
  'state-file',
  'state-versions',
  'outputs',
  'state-content',
  'state-uploads',
  'sessions',
  'authentication-tokens',
  'login',
  'organization-founding',
  'effective-access',
  'refusals',
  'metrics',
  'http',
  'web-pages',
  'operation',
  'openapi',
  'import',
  'cli',
]

/** Below all resources. These folders have no documents and no routes, so nothing in them may look up. */
const foundations = new Set(['core', 'database', 'jsonapi', 'access', 'state-file'])
/** What only the commands and the list of all routes know. */
const tops = new Set(['web-pages', 'operation', 'openapi', 'import', 'cli'])

const files = sourceModules.map(({ file }) => file)
const imports = sourceModules.flatMap((module) => module.imports)

const folderOf = (file: string): string => file.split('/')[0] ?? ''
const isRoute = (file: string): boolean => /-routes?\.ts$/.test(file) && folderOf(file) !== 'http'
/** Documents, and the places that load what a path names, may use the rules and documents of any resource. */
const isDocument = (file: string): boolean => /-(document|includes|pieces|place)\.ts$/.test(file)
const shown = ({ from, to }: Import): string => `${from} → ${to}`

/** Whether the rule about floors does not hold for an import. */
function mayLookUp({ from, to }: Import): boolean {
  if (!from.includes('/')) return true
  if (foundations.has(folderOf(from)) || tops.has(folderOf(to))) return false
  return isRoute(from) || (isDocument(from) && folderOf(to) !== 'http')
}

test('the imports below are found', () => {
  expect(files.length).toBeGreaterThan(300)
  expect(imports.length).toBeGreaterThan(1000)
  expect(imports.filter(({ isStatic }) => !isStatic).length).toBeGreaterThan(20)
})

test('every folder has a floor', () => {
  const folders = new Set(files.filter((file) => file.includes('/')).map(folderOf))
  expect([...folders].toSorted()).toEqual(floors.toSorted())
})

test('rules and stores import only downwards', () => {
  const upwards = imports.filter(
    (each) => floors.indexOf(folderOf(each.to)) > floors.indexOf(folderOf(each.from)) && !mayLookUp(each),
  )
  expect(upwards.map(shown)).toEqual([])
})

test('nobody imports the routes of another folder but the list of all routes', () => {
  const users = imports.filter(
    ({ from, to }) => isRoute(to) && from !== 'app.ts' && folderOf(from) !== folderOf(to),
  )
  expect(users.map(shown)).toEqual([])
})

test('only the import and the commands know the whole server', () => {
  const users = imports.filter(({ from, to }) => to === 'app.ts' && from.includes('/'))
  expect(users.filter(({ from }) => !['import', 'cli'].includes(folderOf(from))).map(shown)).toEqual([])
})

test('no files import each other in a circle', () => {
  const next = Map.groupBy(imports, ({ from }) => from)
  const state = new Map<string, 'open' | 'done'>()
  const circles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
      return
    }
    state.set(file, 'open')
    for (const { to } of next.get(file) ?? []) visit(to, [...path, file])
    state.set(file, 'done')
  }
  for (const file of files) visit(file, [])
  expect(circles).toEqual([])
})

test('every import says what it imports', () => {
  // The thread that seals content is told by its starter where the chunks go.
  expect(sourceModules.flatMap(({ unknownImports }) => unknownImports)).toEqual([
    'state-content/content-thread.ts: module',
  ])
})

test('no state lies outside an owner', () => {
  // Constants are made once and never change. Anything else belongs to an object that the app creates.
  const remembered = 'a WeakMap that remembers the result of a pure function of its key'
  const scratch = 'overwritten by each call, and read only before the call ends'
  const allowed: Readonly<Record<string, string>> = {
    'core/clock.ts: lastMilliseconds': 'the last argument of a pure function',
    'core/clock.ts: lastTimestamp': 'the last result of a pure function',
    'core/turns.ts: waiting': 'the queue of the process, which has one event loop',
    'database/alike-statements.ts: names': remembered,
    'database/read-thread.ts: connection': 'the module is the whole program of its thread',
    'users/guessable.ts: estimate': 'loaded once, and only in a thread',
    'http/polled.ts: tags': remembered,
    'http/request-id.ts: pool': 'random text for the next ids, which nobody else sees',
    'http/request-id.ts: used': 'how much of the pool is used',
    'import/records.ts: validators': 'the compiled schemas of a constant table, made at their first use',
    'jsonapi/body-values.ts: validators': remembered,
    'outputs/output-preview-routes.ts: madeForCalls': 'belongs to the call that is its key',
    'state-content/content-thread.ts: uploads': 'the module is the whole program of its thread',
    'state-versions/upload-urls.ts: signingKeys': remembered,
    'teams/team-name-block.ts: found': scratch,
    'teams/trigram-index.ts: scratch': scratch,
  }
  const found = sourceModules.flatMap(({ file, variables, constants, named, changed }) => [
    ...[...variables, ...constants.filter((name) => changed.has(name))].map((name) => `${file}: ${name}`),
    ...[...changed].flatMap((name) => named.get(name) ?? []),
  ])
  expect(found.toSorted()).toEqual(Object.keys(allowed).toSorted())
})

test('only src/database tells the engines apart', () => {
  const others = sourceModules.filter(({ file }) => folderOf(file) !== 'database')
  expect(others.flatMap(({ engineTests }) => engineTests)).toEqual([])
  // So that the line above finds them.
  expect(sourceModules.flatMap(({ engineTests }) => engineTests).length).toBeGreaterThan(5)
})

test('only src/database/driver-values.ts believes the type of a row', () => {
  const isDriver = (file: string) => file === 'database/driver-values.ts'
  const [ours, others] = [true, false].map((isOurs) =>
    sourceModules.filter(({ file }) => isDriver(file) === isOurs).flatMap((each) => each.rowAssertions),
  )
  expect(others).toEqual([])
  expect(ours).toHaveLength(2)
})
