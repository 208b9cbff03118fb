import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { forTerminal } from '../core/terminal.ts'

/** Prints to standard output, for scripts. Escapes control characters, because the text may come from others. */
export function print(line: string): void {
  process.stdout.write(`${forTerminal(line)}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value))
}

/** Prints to standard error, for people, so that a pipe does not receive it. */
export function note(line: string): void {
  process.stderr.write(`${forTerminal(line)}\n`)
}

/** Prints rows as columns. Each is as wide as its widest entry, except the last. */
export function printTable(rows: readonly (readonly string[])[]): void {
  for (const line of new Columns().lines(rows)) print(line)
}

/** Columns that stay as wide as they once were, for rows that come later. A row is always one line. */
export class Columns {
  readonly #widths: number[] = []

  lines(entries: readonly (readonly string[])[]): string[] {
    // Otherwise a text of somebody else, such as the description of a token, could look like another row.
    const rows = entries.map((row) => row.map((text) => text.replaceAll('\n', '\\u000a')))
    for (const row of rows) {
      row.forEach((text, column) => {
        this.#widths[column] = Math.max(this.#widths[column] ?? 0, text.length)
      })
    }
    return rows.map((row) =>
      row
        .map((text, column) => (column === row.length - 1 ? text : text.padEnd(this.#widths[column] ?? 0)))
        .join('  '),
    )
  }
}

/** Asks on the terminal without showing the input. */
export async function askUnseen(question: string, signal: AbortSignal): Promise<string> {
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: true })
  // The terminal is in raw mode here, so Ctrl-C arrives as a key.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  process.stderr.write(question)
  try {
    return (await lines.question('', { signal })).trim()
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
