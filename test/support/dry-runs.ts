import { expect } from 'vitest'
import type { Response } from './client.ts'
import { body } from './world.ts'

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

/** The body that grants a team access to a workspace or a project. */
export const grantBody = (team: string, kind: 'workspace' | 'project', id: string, attributes: object) =>
  body(`team-${kind}s`, attributes, {
    team: { data: { type: 'teams', id: team } },
    [kind]: { data: { type: `${kind}s`, id } },
  })
