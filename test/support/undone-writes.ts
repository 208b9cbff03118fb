import type { Database, Transaction } from '../../src/database/database.ts'

class Undone extends Error {
  readonly answer: unknown
  constructor(answer: unknown) {
    super('undone')
    this.answer = answer
  }
}

/**
 * Makes every write of this database do its work and answer, but then roll back instead of commit. Returns a function
 * that ends this.
 */
export function undoWrites(database: Database): () => void {
  const write = database.write.bind(database)
  database.write = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    try {
      return await write(async (tx) => {
        throw new Undone(await work(tx))
      })
    } catch (error) {
      if (error instanceof Undone) return error.answer as T
      throw error
    }
  }
  return () => void (database.write = write)
}
