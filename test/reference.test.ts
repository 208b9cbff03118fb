import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const pagesIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(root, folder, name))
const pages = [...pagesIn('docs/reference'), ...pagesIn('docs/adr')]
const textOf = (file: string) => readFileSync(file, 'utf8')
const nameOf = (file: string) => relative(root, file)

const anchorsOf = (file: string) => [...textOf(file).matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id ?? '')

/** As GitHub makes them. */
const headingsOf = (file: string) =>
  [...textOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\d _-]/gu, '')
      .replaceAll(' ', '-'),
  )

test('the tests that hold a rule are there', () => {
  const missing = pages.flatMap((file) =>
    [...textOf(file).matchAll(/`((?:test|conformance|src|scripts)\/[^`]*)`/g)]
      .filter(([, named = '']) => !existsSync(join(root, named)))
      .map(([, named]) => `${nameOf(file)}: ${named}`),
  )
  expect(missing).toEqual([])
})

test('an anchor is in its page once, and links to anchors lead to one', () => {
  for (const file of pages) expect(anchorsOf(file), nameOf(file)).toEqual([...new Set(anchorsOf(file))])
  const broken = pages.flatMap((file) =>
    [...textOf(file).matchAll(/\]\(([^)\s#]*\.md)?#([^)\s]+)\)/g)]
      .map(([, target, anchor = '']) => ({
        to: target === undefined ? file : join(dirname(file), target),
        anchor,
      }))
      .filter(({ to, anchor }) => ![...anchorsOf(to), ...headingsOf(to)].includes(anchor))
      .map(({ to, anchor }) => `${nameOf(file)}: ${nameOf(to)}#${anchor}`),
  )
  expect(broken).toEqual([])
})

test('the index of the decision records names each of them', () => {
  const index = textOf(join(root, 'docs/adr/README.md'))
  const unnamed = pagesIn('docs/adr').filter(
    (file) => !file.endsWith('README.md') && !index.includes(`](${relative(join(root, 'docs/adr'), file)})`),
  )
  expect(unnamed.map(nameOf)).toEqual([])
})
