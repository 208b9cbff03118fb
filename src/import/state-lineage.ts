import { parseStored } from '../core/stored-json.ts'
import type { Spool } from './spool.ts'

const MAX_PARSED_BYTES = 16 * 1024 * 1024

/** Matches the short members at the start of a state: version, terraform_version, serial, lineage. */
const head = /^\uFEFF?\s*\{(?:\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+)\s*,)*/
const member = /"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/g

/** The lineage of a state; undefined if it has none. Usually only the beginning has to be read. */
export function lineageOf(content: Pick<Spool, 'head' | 'size' | 'chunks'>): string | undefined {
  const [start = ''] = head.exec(content.head.toString('utf8')) ?? []
  try {
    for (const [, name, value = ''] of start.matchAll(member)) {
      if (name === 'lineage') return textOf(JSON.parse(value))
    }
    if (content.size > MAX_PARSED_BYTES) return undefined
    const text = Buffer.concat([...content.chunks()]).toString('utf8')
    return textOf(parseStored<{ lineage?: unknown } | null>(text)?.lineage)
  } catch {
    // The server will report that this is not a state.
    return undefined
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
