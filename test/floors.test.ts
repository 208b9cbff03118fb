import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

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
  'http',
  'web-pages',
  'operation',
  'openapi',
  'import',
  'cli',
]

const src = resolve(import.meta.dirname, '../src')
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

type Import = { readonly from: string; readonly to: string }

/** What is imported to run. Types are erased, so they may come from anywhere. */
const imports: readonly Import[] = files.flatMap((from) => {
  const text = readFileSync(join(src, from), 'utf8')
  const found = text.matchAll(/^(?:import|export)\s(?!type\b)[^;'"]*?from\s+'(\.[^']+)'/gm)
  return [...found].map((match) => {
    const to = relative(src, resolve(src, dirname(from), match[1] ?? ''))
    return { from, to }
  })
})

const folderOf = (file: string): string => file.split('/')[0] ?? ''
const isRoute = (file: string): boolean => /-routes?\.ts$/.test(file) && folderOf(file) !== 'http'
/** Documents, and the places that load what a path names, may use the rules and documents of any resource. */
const isDocument = (file: string): boolean => /-(document|includes|pieces|place)\.ts$/.test(file)
const shown = ({ from, to }: Import): string => `${from} → ${to}`

test('the imports below are found', () => {
  expect(files.length).toBeGreaterThan(300)
  expect(imports.length).toBeGreaterThan(1000)
})

test('every folder has a floor', () => {
  const folders = new Set(files.filter((file) => file.includes('/')).map(folderOf))
  expect([...folders].toSorted()).toEqual(floors.toSorted())
})

test('rules and stores import only downwards', () => {
  const upwards = imports.filter(({ from, to }) => {
    if (isRoute(from) || isDocument(from) || !from.includes('/')) return false
    return floors.indexOf(folderOf(to)) > floors.indexOf(folderOf(from))
  })
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

test('no state lies outside an owner', () => {
  // Tables of constants are made once and never change. Anything else belongs to an object that the app creates.
  const allowed = new Set([
    // The last time as text, and the pool of request ids: pure functions of the process.
    'core/clock.ts',
    'http/request-id.ts',
    // Validators by schema, compiled at their first use.
    'import/records.ts',
    // The module is the whole program of its thread.
    'state-content/content-thread.ts',
  ])
  const lines = files.flatMap((file) => {
    if (allowed.has(file)) return []
    const text = readFileSync(join(src, file), 'utf8')
    const found = text.matchAll(/^(?:let \w+|(?:export )?const \w+ = new (?:Map|Set)(?:<[^>]*>)?\(\)).*$/gm)
    return [...found].map(([line]) => `${file}: ${line}`)
  })
  expect(lines).toEqual([])
})
