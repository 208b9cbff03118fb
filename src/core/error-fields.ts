/** The `code` of an error of Node, SQLite or PostgreSQL. Undefined if there is none. */
export function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined
}

/** The result code of an error of SQLite, with its extension in the higher bits. Undefined for any other error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  return typeof error === 'object' &&
    error !== null &&
    'errcode' in error &&
    typeof error.errcode === 'number'
    ? error.errcode
    : undefined
}

/** What caused the error, or the error itself. */
export function causeOf(error: unknown): unknown {
  return error instanceof Error ? (error.cause ?? error) : error
}
