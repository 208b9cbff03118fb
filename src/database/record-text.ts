import type { QueryResultRow } from 'pg'

/** A column of a record, and what JavaScript makes of its text. */
export type Column = { readonly name: string; readonly type: 'boolean' | 'bytes' | 'number' | 'text' }

const QUOTE = '"'

/**
 * The rows of records that PostgreSQL wrote as text, one after the other: `(1,t,,"a, b")`. A value is in quotes if it is
 * empty or has a comma, a parenthesis, a quote, a backslash or white space. Quotes and backslashes are doubled there. An
 * absent value is null. Bytes are hexadecimal digits.
 */
export function readRecords(text: string, columns: readonly Column[]): QueryResultRow[] {
  const rows: QueryResultRow[] = []
  const last = columns.length - 1
  let at = 0
  while (at < text.length) {
    const row: QueryResultRow = {}
    at += 1
    for (const [place, { name, type }] of columns.entries()) {
      const isQuoted = text[at] === QUOTE
      const end = isQuoted ? endOfQuoted(text, at + 1) : text.indexOf(place === last ? ')' : ',', at)
      if (end === -1) throw new Error('PostgreSQL sent an incomplete record')
      if (isQuoted) row[name] = valueOf(unescape(text.slice(at + 1, end)), type)
      else row[name] = end === at ? null : valueOf(text.slice(at, end), type)
      at = end + (isQuoted ? 2 : 1)
    }
    rows.push(row)
  }
  return rows
}

/** The place of the quote that ends the value; -1 if there is none. */
function endOfQuoted(text: string, start: number): number {
  let end = text.indexOf(QUOTE, start)
  while (end !== -1 && text[end + 1] === QUOTE) end = text.indexOf(QUOTE, end + 2)
  return end
}

function unescape(text: string): string {
  if (!text.includes(QUOTE) && !text.includes('\\')) return text
  return text.replaceAll('""', QUOTE).replaceAll('\\\\', '\\')
}

function valueOf(text: string, type: Column['type']): unknown {
  if (type === 'text') return text
  if (type === 'number') return Number(text)
  return type === 'bytes' ? Buffer.from(text, 'hex') : text === 't'
}
