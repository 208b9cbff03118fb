import { AppError } from '../core/errors.ts'
import type { Database, Transaction } from '../database/database.ts'
import type { Query } from '../jsonapi/query.ts'
import type { Answer } from './call.ts'

const PARAMETER = 'dry-run'

/**
 * Whether a write is only to be tried. Throws 400 for any value but true and false, the empty one too, and for a route
 * that cannot be tried: what was meant as a trial must never be done.
 */
export function isTrial(query: Query, canBeTried: boolean): boolean {
  const value = query.given(PARAMETER)
  if (value === undefined || value === 'false') return false
  if (value !== 'true') throw refusal('dry-run must be true or false')
  if (!canBeTried) throw refusal('dry-run cannot be asked of this: it would be done')
  return true
}

function refusal(detail: string): AppError {
  return new AppError('invalid-query', [{ detail, parameter: PARAMETER }])
}

class Undone extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super('undone')
    this.answer = answer
  }
}

/** Does all that a write does, answers, and undoes it. */
export async function undone(
  database: Database,
  work: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await database.write(async (tx) => {
      throw new Undone(await work(tx))
    })
  } catch (error) {
    if (error instanceof Undone) return error.answer
    throw error
  }
}
