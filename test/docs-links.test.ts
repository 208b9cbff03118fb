import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const pages = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file.endsWith('.md') && existsSync(file))

/** What a reader sees as text: a line in a code block is neither a heading nor a link. */
function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
}

function ownAnchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)
}

/** The page's own anchors, and those of headings as GitHub makes them: a heading that is repeated gets a number. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set(ownAnchorsOf(page))
  for (const [, heading = ''] of proseOf(page).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const anchor = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-')
    let name = anchor
    for (let repeated = 1; anchors.has(name); repeated++) name = `${anchor}-${repeated}`
    anchors.add(name)
  }
  return anchors
}

type Link = { page: string; target: string; file: string; anchor: string | undefined }

/** Links inside the repository: those without a scheme such as https. */
function linksOf(page: string): Link[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : normalize(join(dirname(page), path))
      return { page, target, file, anchor }
    })
}

const links = pages.flatMap(linksOf)
const named = ({ page, target }: Link) => `${page}: ${target}`

test('the tests below look at pages and links', () => {
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/settings.md']))
  expect(links.filter(({ anchor }) => anchor !== undefined).length).toBeGreaterThan(5)
})

test('every link from a page to a file of this repository points at a file', () => {
  expect(links.filter(({ file }) => !existsSync(file)).map(named)).toEqual([])
})

test('no page has an anchor twice', () => {
  const repeated = pages.filter((page) => new Set(ownAnchorsOf(page)).size < ownAnchorsOf(page).length)
  expect(repeated).toEqual([])
})

test('every link to a part of a page points at a heading or an anchor', () => {
  const broken = links.filter(
    ({ file, anchor }) =>
      anchor !== undefined && file.endsWith('.md') && existsSync(file) && !anchorsOf(file).has(anchor),
  )
  expect(broken.map(named)).toEqual([])
})

test('a reader finds every page of docs by links from README', () => {
  const found = new Set(['README.md'])
  // A set also iterates over what is added meanwhile.
  for (const page of found) {
    for (const { file } of links.filter((link) => link.page === page)) {
      if (pages.includes(file)) found.add(file)
    }
  }
  expect(pages.filter((page) => page.startsWith('docs/') && !found.has(page))).toEqual([])
})
