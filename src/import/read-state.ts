import { Unreadable, type StateRecord } from './records.ts'
import type { Report } from './report.ts'
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

/** Without those that are current for nobody yet: others that were snapshots once are states like all. */
export function withoutSnapshots(
  report: Report,
  workspace: string,
  oldestFirst: readonly StateRecord[],
): readonly StateRecord[] {
  const end = oldestFirst.findLastIndex(({ isSnapshot }) => !isSnapshot) + 1
  const count = oldestFirst.length - end
  if (count > 0) {
    report.missing(
      'state versions',
      workspace,
      `${count} snapshots: they are current only when it is unlocked there`,
    )
  }
  return oldestFirst.slice(0, end)
}
