import { StatementSync } from 'node:sqlite'
import { Client } from 'pg'

export type CountedRows = { all: number; mostInTurn: number; stop: () => void }

/** Counts the rows that this process reads from either engine: in total, and the most in one turn of the event loop. */
export function countRows(): CountedRows {
  let inTurn = 0
  const counted: CountedRows = { all: 0, mostInTurn: 0, stop: () => {} }
  const count = (rows: readonly unknown[]) => {
    if (inTurn === 0) setImmediate(() => (inTurn = 0))
    inTurn += rows.length
    counted.all += rows.length
    counted.mostInTurn = Math.max(counted.mostInTurn, inTurn)
  }
  const stops = [
    wrap(StatementSync.prototype, 'all', (rows) => count(rows as unknown[])),
    wrap(Client.prototype, 'query', (result) => {
      if (!(result instanceof Promise)) return
      // A query with several statements has several results.
      const look = (found: unknown) =>
        [found].flat().forEach((one) => count((one as { rows: unknown[] }).rows))
      result.then(look, () => {})
    }),
  ]
  counted.stop = () => {
    for (const stop of stops) stop()
  }
  return counted
}

/** Counts the turns of the event loop that begin during a write of SQLite. */
export function countTurnsWithinWrites(): { all: number; stop: () => void } {
  const counted = { all: 0, stop: () => {} }
  let isWriting = false
  const tick = () => {
    if (!isWriting) return
    counted.all += 1
    setImmediate(tick)
  }
  counted.stop = wrap(StatementSync.prototype, 'run', (_, statement) => {
    const text = (statement as StatementSync).sourceSQL
    // Several writes are committed together. Each of them is a savepoint.
    if (text === 'savepoint part') {
      isWriting = true
      setImmediate(tick)
    }
    if (text === 'release part') isWriting = false
  })
  return counted
}

/** Calls `look` with every result of a method. Returns a function that stops this. */
function wrap(prototype: object, name: string, look: (result: unknown, self: unknown) => void): () => void {
  const methods = prototype as Record<string, (...given: unknown[]) => unknown>
  const original = methods[name] as (...given: unknown[]) => unknown
  methods[name] = function (this: unknown, ...given) {
    const result = original.apply(this, given)
    look(result, this)
    return result
  }
  return () => {
    methods[name] = original
  }
}
