import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'

const MOST_LINES = 300

const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && existsSync(file))
const textOf = (file: string): string => readFileSync(file, 'utf8')
const sources = files.filter((file) => /\.(ts|tsx|cjs)$/.test(file))
const serverSources = sources.filter((file) => file.startsWith('src/'))

/** `file:line: text` for each matching line, so that a failure shows the place. */
function linesMatching(where: string[], pattern: RegExp): string[] {
  return where.flatMap((file) =>
    textOf(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  )
}

test('the rules below look at files', () => {
  expect(serverSources.length).toBeGreaterThan(20)
  expect(files).toContain('package-lock.json')
})

test('only stores and src/database know Kysely', () => {
  const others = serverSources.filter(
    (file) => !file.startsWith('src/database/') && !file.endsWith('-store.ts'),
  )
  expect(linesMatching(others, /(from|import)\s*\(?\s*'kysely/)).toEqual([])
})

test('the columns of attributes stand beside the attributes, not in routes', () => {
  // So a new attribute touches no routes. A name is required of a new object, so its route sets it.
  const routes = serverSources.filter((file) => file.endsWith('-routes.ts'))
  expect(linesMatching(routes, /^\s*(?!name:)\w+: changes\.\w+( \?\? null)?,$/)).toEqual([])
})

test('only src/http knows the router', () => {
  const others = serverSources.filter((file) => !file.startsWith('src/http/'))
  expect(linesMatching(others, /(from|import)\s*\(?\s*'find-my-way/)).toEqual([])
})

test('only the clock reads the time of day', () => {
  const others = serverSources.filter((file) => file !== 'src/core/clock.ts')
  expect(linesMatching(others, /new Date\(\s*\)|\bDate\.now\b|\bDate\(\)/)).toEqual([])
})

test('only a table that a migration makes gets an index in it', () => {
  // On PostgreSQL, making an index on a table in use blocks its writers: src/database/later-indexes.ts makes those.
  const later = files.filter((file) =>
    /^src\/database\/migrations\/(?!first-tables)|^test\/support\/later-migration/.test(file),
  )
  expect(later.length).toBeGreaterThan(3)
  const indexed = later.flatMap((file) => {
    const text = textOf(file).replaceAll(/\s+/g, ' ')
    const made = Array.from(text.matchAll(/\bcreate table (?:if not exists )?(\w+)/gi), ([, table]) => table)
    const indexes = [
      ...text.matchAll(/\bcreate (?:unique )?index\b.*?\bon ([^\s(]+)/gi),
      ...text.matchAll(/\balter table (\w+)[^;]*\b(?:unique|primary key)\b/gi),
      ...text.matchAll(/\.createIndex\(/g),
    ]
    return indexes.map(([statement, table]) => ({ file, statement, isNew: made.includes(table) }))
  })
  expect(indexed.filter(({ isNew }) => !isNew)).toEqual([])
})

test('only the hook and the elements that guard against two presses change something or send a form', () => {
  const pages = sources.filter((file) => file.startsWith('web/'))
  const but = (...guards: string[]) => pages.filter((file) => !guards.includes(file))
  expect(linesMatching(but('web/api/change.ts'), /\buseMutation\b/)).toEqual([])
  expect(linesMatching(but('web/kit/button.tsx'), /<button\b/)).toEqual([])
  expect(linesMatching(but('web/kit/form.tsx', 'web/kit/settings-form.tsx'), /<form\b/)).toEqual([])
})

test('no default exports, no enums', () => {
  const ours = sources.filter((file) => !/^(vite|vitest)\.config\.ts$|\.cjs$/.test(file))
  expect(linesMatching(ours, /^\s*export default\b/)).toEqual([])
  expect(linesMatching(ours, /^\s*(export\s+)?(declare\s+)?(const\s+)?enum\s/)).toEqual([])
})

test(`no source file is longer than ${MOST_LINES} lines`, () => {
  // A test file lists cases, so a long one is not necessarily complicated.
  const long = sources
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => ({ file, lines: textOf(file).trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > MOST_LINES)
  expect(long).toEqual([])
})

test('file names are kebab-case', () => {
  const odd = sources.filter((file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*$/.test(basename(file)))
  expect(odd).toEqual([])
})

test('nothing names a folder of the machine it was written on', () => {
  const pattern = /(^|[\s"'`(=:])\/(work|root|home|Users)(\/|\b(?![-\w]))/
  const texts = files.filter((file) => !file.startsWith('test/data/') && !textOf(file).includes('\0'))
  expect(linesMatching(texts, pattern)).toEqual([])
})

test('the lockfile names every package, each with its hash and without an address', () => {
  type Locked = {
    integrity?: string
    resolved?: string
    dependencies?: Record<string, string>
    optionalDependencies?: Record<string, string>
  }
  const { packages } = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, Locked> }
  const locked = Object.entries(packages)
  const names = new Set(locked.map(([path]) => path.replace(/^.*node_modules\//, '')))
  // npm ci refuses a lockfile without the packages of other platforms. npm install writes such a lockfile if the
  // registry lacks a version of them.
  const missing = locked.flatMap(([path, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
      .filter((name) => !names.has(name))
      .map((name) => `${path} needs ${name}`),
  )
  expect(missing).toEqual([])
  const odd = locked.filter(([path, { integrity, resolved }]) => path !== '' && (!integrity || resolved))
  expect(odd).toEqual([])
})

test('the Node of the packages is the same exact version on every platform', () => {
  const { optionalDependencies } = JSON.parse(textOf('package.json')) as {
    optionalDependencies: Record<string, string>
  }
  const versions = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('node-'))
  expect(versions.length).toBe(5)
  expect(new Set(versions.map(([, version]) => version)).size).toBe(1)
  expect(versions[0]?.[1]).toMatch(/^\d+\.\d+\.\d+$/)
})

test('each refusal of valid requests that conformance/ accepts is a text of the server', () => {
  const accepted = JSON.parse(textOf('conformance/openapi/refused.json')) as { details: string[] }[]
  const source = serverSources.map(textOf).join('\n')
  const gone = accepted
    .flatMap(({ details }) => details)
    .filter((pattern) => !new RegExp(pattern.replaceAll(/^\^|\$$/g, ''), 'i').test(source))
  expect(gone).toEqual([])
})

test('every colour and font that the style sheets use is defined', () => {
  const sheets = files.filter((file) => /^web\/.*\.css$/.test(file)).map(textOf)
  const all = sheets.join('\n')
  const used = new Set(Array.from(all.matchAll(/var\((--[\w-]+)\)/g), ([, name]) => name))
  const defined = new Set(Array.from(all.matchAll(/(--[\w-]+):/g), ([, name]) => name))
  expect(used.size).toBeGreaterThan(10)
  // The headings of a table's columns are set by its component.
  expect([...used].filter((name) => !defined.has(name) && !name?.startsWith('--column-'))).toEqual([])
})
