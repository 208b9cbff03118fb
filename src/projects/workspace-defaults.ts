import { Type, type Static } from 'typebox'
import { oneOf } from '../jsonapi/body.ts'

/** Only stored and returned: this server runs nothing. */
export const executionMode = oneOf('remote', 'local', 'agent')
export type ExecutionMode = Static<typeof executionMode>

/** The body schema refuses a pool. If the server dropped it silently, clients would plan the same change for ever. */
export const noAgentPool = Type.Union([Type.Null(), Type.Literal('')], {
  explain: 'must be null: this server has no agent pools',
})

/** A workspace would be destroyed after this time without activity. Only stored and returned: nothing is destroyed. */
export const autoDestroyDuration = Type.Union(
  [Type.String({ pattern: '^([0-9]{1,4}[dh])?$' }), Type.Null()],
  {
    complaint:
      "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')",
  },
)
