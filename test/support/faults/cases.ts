import { isLong } from '../runs.ts'
import type { Fault } from './faults.ts'

/** How many faults of each kind `npm test` tries. The long mode tries every call, or PURSER_TEST_FAULTS of them. */
const samples = { KILL: 3, EIO: 2, ENOSPC: 2 } as const

export type Kind = keyof typeof samples
export const everyKind: readonly Kind[] = ['KILL', 'EIO', 'ENOSPC']

const seed = Number(process.env.PURSER_TEST_FAULT_SEED ?? 20261122)

/** In milliseconds. Every fault needs one or two processes. */
export const faultTimeout = isLong ? 4 * 3_600_000 : 300_000

const mostOfKind = Number(process.env.PURSER_TEST_FAULTS ?? Infinity)

export const everyWrite = ['writes', 'syncs', 'names'] as const

export type Case = Required<Pick<Fault, 'calls' | 'at' | 'error' | 'isOnce'>>

/** The faults to try if a run without faults makes this many calls: each kind at every call, or at a sample of them. */
export function casesOf(calls: number, kinds: readonly Kind[]): Case[] {
  const cases: Case[] = []
  for (const error of kinds) {
    const numbers = Array.from({ length: calls }, (_, index) => index + 1)
    for (const at of sample(numbers, isLong ? mostOfKind : samples[error])) {
      // A full disk stays full, but a failed fsync may be the only one.
      cases.push({ calls: everyWrite, at, error, isOnce: error === 'EIO' })
    }
  }
  return cases
}

let state = seed

/** Different numbers. The same seed gives the same numbers. */
function sample(numbers: number[], count: number): number[] {
  if (count >= numbers.length) return numbers
  const left = [...numbers]
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return left.splice((state >> 8) % left.length, 1)[0] as number
  })
}
