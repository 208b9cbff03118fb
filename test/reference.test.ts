import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const pagesIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(root, folder, name))
const pages = [...pagesIn('docs/reference'), ...pagesIn('docs/adr')]
const textOf = (file: string) => readFileSync(file, 'utf8')
const nameOf = (file: string) => relative(root, file)

test('the tests that hold a rule are there', () => {
  const missing = pages.flatMap((file) =>
    [...textOf(file).matchAll(/`((?:test|conformance|src|scripts)\/[^`]*)`/g)]
      .filter(([, named = '']) => !existsSync(join(root, named)))
      .map(([, named]) => `${nameOf(file)}: ${named}`),
  )
  expect(missing).toEqual([])
})

test('the index of the decision records names each of them', () => {
  const index = textOf(join(root, 'docs/adr/README.md'))
  const unnamed = pagesIn('docs/adr').filter(
    (file) => !file.endsWith('README.md') && !index.includes(`](${relative(join(root, 'docs/adr'), file)})`),
  )
  expect(unnamed.map(nameOf)).toEqual([])
})
