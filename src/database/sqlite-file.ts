import { statSync } from 'node:fs'
import { databaseUnavailable } from './unavailable.ts'

/**
 * The file of an open database. On most systems SQLite goes on to write to a file that was deleted, moved or replaced
 * meanwhile. Nobody would find there what it has written.
 */
export class SqliteFile {
  readonly #path: string
  readonly #id: string | undefined

  /** @param path of a database that is open */
  constructor(path: string) {
    this.#path = path
    this.#id = idOf(path)
  }

  /** Throws 503 if the file is not in its place any more. */
  assertInPlace(): void {
    if (idOf(this.#path) === this.#id) return
    throw databaseUnavailable(
      new Error(`${this.#path} was deleted, moved or replaced: put it back, or start the server again`),
      'the file of the database was deleted, moved or replaced',
    )
  }
}

function idOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.dev} ${stats.ino}`
}
