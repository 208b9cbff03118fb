import type { Spool } from './spool.ts'

const MAX_PARSED_BYTES = 16 * 1024 * 1024

/** The members with short values that a state begins with: version, terraform_version, serial, lineage. */
const head = /^\uFEFF?\s*\{(?:\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+)\s*,)*/
const member = /"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/g

/** What a state says of its lineage; undefined when it says nothing. Only its beginning is read where that is enough. */
export function lineageOf(content: Pick<Spool, 'head' | 'size' | 'chunks'>): string | undefined {
  const [start = ''] = head.exec(content.head.toString('utf8')) ?? []
  for (const [, name, value = ''] of start.matchAll(member)) {
    if (name === 'lineage') return textOf(JSON.parse(value))
  }
  if (content.size > MAX_PARSED_BYTES) return undefined
  try {
    const text = Buffer.concat([...content.chunks()]).toString('utf8')
    return textOf((JSON.parse(text) as { lineage?: unknown } | null)?.lineage)
  } catch {
    // That it is no state is for the server to say.
    return undefined
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
