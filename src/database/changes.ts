import type { QueryResult } from 'pg'

/** Notes whether statements changed rows. */
export class Changes {
  #underWay = 0
  #hasChanged = false

  /** Whether a row was changed, or may be by a statement under way. */
  get isAny(): boolean {
    return this.#underWay > 0 || this.#hasChanged
  }

  /** @param running a statement that may change rows */
  async note(running: Promise<QueryResult>): Promise<QueryResult> {
    this.#underWay += 1
    try {
      const result = await running
      if (result.rowCount !== 0) this.#hasChanged = true
      return result
    } catch (error) {
      // It has ended the transaction, also if the work goes on without it.
      this.#hasChanged = true
      throw error
    } finally {
      this.#underWay -= 1
    }
  }
}
