import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/** Where the built pages are: beside the sources, or in the package. */
const FOLDERS = ['../../dist/web/', '../web/'].map((path) => fileURLToPath(new URL(path, import.meta.url)))

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** A built file, in memory. */
export type PageFile = {
  readonly bytes: Buffer
  readonly gzipped: Buffer
  readonly type: string
  readonly etag: string
}

/** The built pages: the shell as it is and by theme, and its assets by name. */
export type Pages = {
  readonly shell: PageFile
  readonly themed: ReadonlyMap<string, PageFile>
  readonly assets: ReadonlyMap<string, PageFile>
}

const themes = ['light', 'dark'] as const

/** Undefined if they were not built. */
export function readPages(): Pages | undefined {
  const folder = FOLDERS.find((path) => existsSync(join(path, 'index.html')))
  if (folder === undefined) return undefined
  const assets = join(folder, 'assets')
  const shell = readPageFile(join(folder, 'index.html'))
  return {
    shell,
    themed: new Map(themes.map((theme) => [theme, withTheme(shell, theme)])),
    assets: new Map(readdirSync(assets).map((name) => [name, readPageFile(join(assets, name))])),
  }
}

/** The document says its theme itself, so that it is never drawn in another one first. */
function withTheme({ bytes, type }: PageFile, theme: string): PageFile {
  return pageFile(Buffer.from(bytes.toString().replace('<html ', `<html data-theme="${theme}" `)), type)
}

function readPageFile(path: string): PageFile {
  return pageFile(readFileSync(path), types[extname(path)] ?? 'application/octet-stream')
}

function pageFile(bytes: Buffer, type: string): PageFile {
  return {
    bytes,
    gzipped: gzipSync(bytes),
    type,
    etag: `"${hash('sha256', bytes, 'base64url')}"`,
  }
}
