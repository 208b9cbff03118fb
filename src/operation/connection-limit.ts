import type { Logger } from 'pino'
import type { ServerConfig } from '../config.ts'
import { maxOpenFiles } from '../core/open-files.ts'
import { SparseLog } from '../core/sparse-log.ts'

/** Files that a process needs beside the connections of clients: those of the database, of threads, of PostgreSQL. */
const OTHER_FILES = 200

/** The most connections of clients: as the setting says, or fewer if the process may not open so many files. */
export function mostConnections({ maxConnections }: Pick<ServerConfig, 'maxConnections'>): number {
  const files = maxOpenFiles() ?? Infinity
  return Math.min(maxConnections, Math.max(files - OTHER_FILES, Math.floor(files / 2)))
}

/** Logs that the limit is reached. */
export function logFull(log: Logger, most: number): (address: string, connections: number) => void {
  const lines = new SparseLog()
  return (address, connections) => {
    lines.warn(
      log,
      { address, connections },
      `${most} connections are open, the most that may be (PURSER_MAX_CONNECTIONS, or the limit of open files); connections of the address that has most of them are closed`,
    )
  }
}
