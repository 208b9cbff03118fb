import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { AppError } from '../src/core/errors.ts'
import { MIN_BYTES_PER_SECOND, Pace } from '../src/http/pace.ts'

describe('the pace of a body', () => {
  let refused: AppError | undefined
  let pace: Pace
  beforeEach(() => {
    vi.useFakeTimers()
    refused = undefined
    pace = new Pace(10_000, (error) => (refused = error))
  })
  afterEach(() => {
    pace.stop()
    vi.useRealTimers()
  })

  /** Sends this many bytes at this interval for this long. */
  const send = (bytes: number, everyMs: number, forMs: number) => {
    for (let at = 0; at < forMs; at += everyMs) {
      vi.advanceTimersByTime(everyMs)
      pace.got(bytes)
    }
  }

  test('is too slow when nothing comes for as long as it may', () => {
    vi.advanceTimersByTime(9_999)
    expect(refused).toBeUndefined()
    vi.advanceTimersByTime(2)
    expect([refused?.code, refused?.message]).toEqual([
      'too-slow',
      'the body arrived too slowly: less than 16384 bytes a second',
    ])
  })

  test('is too slow when less than the least comes, however much came before', () => {
    send(10 * 1024 * 1024, 100, 5_000)
    send(1, 100, 60_000)
    expect(refused).toBeDefined()
  })

  test('is good enough for a slow line, for a line that stops now and then, and at the least itself', () => {
    send(12_500, 100, 3_600_000)
    for (let round = 0; round < 100; round++) {
      vi.advanceTimersByTime(8_000)
      send(125_000, 1_000, 10_000)
    }
    send(MIN_BYTES_PER_SECOND, 1_000, 600_000)
    expect(refused).toBeUndefined()
  })

  test('does not count the time that the server itself takes', () => {
    vi.advanceTimersByTime(9_000)
    pace.hold()
    vi.advanceTimersByTime(3_600_000)
    pace.goOn()
    vi.advanceTimersByTime(900)
    expect(refused).toBeUndefined()
    vi.advanceTimersByTime(1_200)
    expect(refused).toBeDefined()
  })
})
