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

/** The anchors of a page, each with its text: up to the next anchor or heading. */
const rulesOf = (page: string) =>
  [...page.matchAll(/<a id="([^"]+)"><\/a>((?:(?!<a id=|^#).)*)/gms)].map(([, anchor = '', text = '']) => ({
    anchor,
    text: text.trim(),
  }))
const namesTest = (text: string) => /Held by `(?:test|conformance)\/[^`]*`/.test(text)

test('every rule names a test that holds it', () => {
  const rules = pagesIn('docs/reference').flatMap((file) => {
    const page = textOf(file)
    const [introduction = ''] = page.split('<a id=', 1)
    return rulesOf(page).map(({ anchor, text }) => ({
      name: `${nameOf(file)}#${anchor}`,
      // Printed permissions have a heading after their anchor. Their page names the tests once.
      isHeld: namesTest(text === '' ? introduction : text),
    }))
  })
  expect(rules.length).toBeGreaterThan(300)
  expect(rules.filter(({ isHeld }) => !isHeld).map(({ name }) => name)).toEqual([])
})

test('the index of the decision records names each of them', () => {
  const index = textOf(join(root, 'docs/adr/README.md'))
  const unnamed = pagesIn('docs/adr').filter(
    (file) => !file.endsWith('README.md') && !index.includes(`](${relative(join(root, 'docs/adr'), file)})`),
  )
  expect(unnamed.map(nameOf)).toEqual([])
})
