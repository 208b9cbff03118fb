import type { Database } from './database.ts'

/**
 * Thrown by a read that needs much more from the database than one transaction should read, such as all names of a large
 * organization. The request prepares that outside of its transaction, and then reads again. The second time it must not
 * throw this.
 */
export class ReadAgain extends Error {
  readonly prepare: (database: Database) => Promise<void>

  constructor(prepare: (database: Database) => Promise<void>) {
    super('the read has to be prepared')
    this.prepare = prepare
  }
}

/** Thrown by a read that is going to look at very many rows, and would block others: it begins again as a slow read. */
export class ReadSlowly extends Error {
  constructor() {
    super('the read has to be a slow one')
  }
}
