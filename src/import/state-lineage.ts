const MAX_HEAD_BYTES = 64 * 1024
const MAX_PARSED_BYTES = 16 * 1024 * 1024

/** The members with short values that a state begins with: version, terraform_version, serial, lineage. */
const head = /^\uFEFF?\s*\{(?:\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+)\s*,)*/
const member = /"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/g

/** What a state says of its lineage; undefined when it says nothing. Only its beginning is read where that is enough. */
export function lineageOf(content: Buffer): string | undefined {
  const [start = ''] = head.exec(content.toString('utf8', 0, MAX_HEAD_BYTES)) ?? []
  for (const [, name, value = ''] of start.matchAll(member)) {
    if (name === 'lineage') return textOf(JSON.parse(value))
  }
  if (content.length > MAX_PARSED_BYTES) return undefined
  try {
    return textOf((JSON.parse(content.toString('utf8')) as { lineage?: unknown } | null)?.lineage)
  } catch {
    // That it is no state is for the server to say.
    return undefined
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
