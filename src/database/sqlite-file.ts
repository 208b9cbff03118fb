import { statSync } from 'node:fs'
import { databaseUnavailable } from './unavailable.ts'

/** Tells a file from another one that has taken its place. Undefined if there is none. */
export function idOfFile(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.dev} ${stats.ino}`
}

/**
 * Throws 503 if the file of an open database was deleted, moved or replaced. On most systems SQLite would go on to write to it,
 * and nobody would find there what it has written.
 */
export function assertInPlace(path: string, id: string | undefined): void {
  if (idOfFile(path) === id) return
  throw databaseUnavailable(
    new Error(`${path} was deleted, moved or replaced: put it back, or start the server again`),
    'the file of the database was deleted, moved or replaced',
  )
}
