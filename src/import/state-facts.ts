import { parseStored } from '../core/stored-json.ts'
import type { Spool } from './spool.ts'

const MAX_PARSED_BYTES = 16 * 1024 * 1024

/** Matches the short members at the start of a state: version, terraform_version, serial, lineage. */
const head = /^\uFEFF?\s*\{(?:\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+)\s*,)*/
const member = /"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/g

/** Undefined is what the state does not have, or what is of another type. */
export type StateFacts = { readonly serial: number | undefined; readonly lineage: string | undefined }

type Content = Pick<Spool, 'head' | 'size' | 'chunks'>

/** Serial and lineage of a state, as it says itself. Usually only the beginning has to be read. */
export function factsOf(content: Content): StateFacts {
  const [start = ''] = head.exec(content.head.toString('utf8')) ?? []
  try {
    const found = new Map<string, unknown>()
    for (const [, name = '', value = ''] of start.matchAll(member)) found.set(name, parseStored(value))
    const { serial, lineage } =
      found.has('serial') && found.has('lineage') ? Object.fromEntries(found) : wholeOf(content)
    return {
      serial: typeof serial === 'number' && Number.isSafeInteger(serial) ? serial : undefined,
      lineage: typeof lineage === 'string' && lineage !== '' ? lineage : undefined,
    }
  } catch {
    // The server will report that this is not a state.
    return { serial: undefined, lineage: undefined }
  }
}

function wholeOf(content: Content): { serial?: unknown; lineage?: unknown } {
  if (content.size > MAX_PARSED_BYTES) return {}
  const text = Buffer.concat([...content.chunks()]).toString('utf8')
  return parseStored<{ serial?: unknown; lineage?: unknown } | null>(text) ?? {}
}
