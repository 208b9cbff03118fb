import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { forTerminal } from '../core/terminal.ts'

/** What a script reads: standard output. Others' text may be in it. */
export function print(line: string): void {
  process.stdout.write(`${forTerminal(line)}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value))
}

/** What only a person reads, beside a result that may be piped on. */
export function note(line: string): void {
  process.stderr.write(`${forTerminal(line)}\n`)
}

/** Rows in columns as wide as their widest entry, the last one as it is. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows.map((row) =>
    row
      .map((text, column) => (column === row.length - 1 ? text : text.padEnd(widths[column] ?? 0)))
      .join('  '),
  )
}

/** Asks on the terminal for what must not be seen there. */
export async function askUnseen(question: string, signal: AbortSignal): Promise<string> {
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: true })
  // The terminal is read key by key meanwhile: Ctrl-C arrives as one.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  process.stderr.write(question)
  try {
    return (await lines.question('', { signal })).trim()
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
