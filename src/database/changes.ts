import type { QueryResult } from 'pg'

/** Counts the statements that changed rows. */
export class Changes {
  #underWay = 0
  /** How many have changed a row. */
  count = 0

  /** Whether a row was changed since `count` had this value, or may be by a statement under way. */
  since(count: number): boolean {
    return this.#underWay > 0 || this.count > count
  }

  /** @param running a statement that may change rows */
  async note(running: Promise<QueryResult>): Promise<QueryResult> {
    this.#underWay += 1
    try {
      const result = await running
      if (result.rowCount !== 0) this.count += 1
      return result
    } catch (error) {
      // It has ended the transaction, also if the work goes on without it.
      this.count += 1
      throw error
    } finally {
      this.#underWay -= 1
    }
  }
}
