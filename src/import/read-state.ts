import { createHash } from 'node:crypto'
import { Unreadable, type StateRecord } from './records.ts'
import type { Source } from './source.ts'

/** The bytes of a state, which must be what the source says of them. They are held in memory: never in a file in clear. */
export async function readState(
  source: Source,
  state: StateRecord,
  limit: number,
): Promise<{ content: Buffer; md5: string }> {
  const content = await source.content(state, 'state', limit)
  const md5 = createHash('md5').update(content).digest('hex')
  if (state.md5 !== null && state.md5.toLowerCase() !== md5) {
    throw new Unreadable(`its MD5 hash is ${md5}, where the source says ${state.md5}`)
  }
  if (state.size !== null && state.size !== content.length) {
    throw new Unreadable(`${content.length} bytes came, where the source says ${state.size}`)
  }
  return { content, md5 }
}
