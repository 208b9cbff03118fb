/** What a script reads: standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value))
}

/** What only a person reads, beside a result that may be piped on. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`)
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
