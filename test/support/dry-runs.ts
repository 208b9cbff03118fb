import { expect } from 'vitest'
import type { Response } from './client.ts'

export type Change = {
  who: { type: string; id: string; name: string }
  on: { type: string; id: string; name: string }
  from?: string
  to?: string
  gained: string[]
  lost: string[]
}

/** The changes that a dry run answers. Throws if the answer is not that of a dry run. */
export function changesOf({ status, json, text }: Response): Change[] {
  if (status !== 200) throw new Error(`expected 200, got ${status} ${text}`)
  expect(json.data.type).toBe('access-changes')
  expect(json.data.attributes.truncated).toBe(false)
  expect(json.data.attributes['changes-count']).toBe(json.data.attributes.changes.length)
  return json.data.attributes.changes
}
