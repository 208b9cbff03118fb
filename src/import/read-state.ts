import { Unreadable, type StateRecord } from './records.ts'
import type { Sink, Source } from './source.ts'

/** A sink that knows what has come. */
export type Measured = Sink & { readonly size: number; readonly md5: string }

/** Reads a state, which must be what the source says of it. */
export async function readState(
  source: Source,
  state: StateRecord,
  limit: number,
  sink: Measured,
): Promise<void> {
  await source.content(state, 'state', limit, sink)
  const { md5, size } = sink
  if (state.md5 !== null && state.md5.toLowerCase() !== md5) {
    throw new Unreadable(`its MD5 hash is ${md5}, where the source says ${state.md5}`)
  }
  if (state.size !== null && state.size !== size) {
    throw new Unreadable(`${size} bytes came, where the source says ${state.size}`)
  }
}
