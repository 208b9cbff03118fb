import type { Database, Transaction } from '../../src/database/database.ts'

class Undone extends Error {
  readonly answer: unknown
  constructor(answer: unknown) {
    super('undone')
    this.answer = answer
  }
}

/** From now on writes of this database do their work, but roll back at the end. Returns a function that stops this. */
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
