import { orReport, readOf } from './context.ts'
import { Unreadable, type StateChoice, type StateRecord, type WorkspaceRecord } from './records.ts'
import type { Report } from './report.ts'
import type { Sink, Source } from './source.ts'

/** A sink that measures what it received. */
export type Measured = Sink & { readonly size: number; readonly md5: string }

/** Reads a state and checks it against the size and hash that the source reports. */
export async function readState(
  source: Source,
  state: StateRecord,
  limit: number,
  sink: Measured,
): Promise<void> {
  await source.content(state, 'state', limit, sink)
  const { md5, size } = sink
  if (state.md5 !== null && state.md5.toLowerCase() !== md5) {
    throw new Unreadable(`its MD5 hash is ${md5}, but the source says ${state.md5}`)
  }
  if (state.size !== null && state.size !== size) {
    throw new Unreadable(`${size} bytes came, but the source says ${state.size}`)
  }
}

/** Reads the JSON state of a version, and returns whether there is one. One that cannot be read is reported. */
export async function readJsonState(
  { source, report }: { source: Source; report: Report },
  what: string,
  state: StateRecord,
  limit: number,
  sink: Sink,
): Promise<boolean> {
  if (!state.hasJson) return false
  const read = await orReport({ report }, 'state versions', `JSON state of ${what}`, async () => {
    await source.content(state, 'jsonState', limit, sink)
    return true
  })
  return read === true
}

type Listing = Parameters<typeof readOf>[0] & { source: Source; states: StateChoice }

/**
 * The versions of a workspace, oldest first. Without snapshots at the end, which are not current yet; older ones are
 * ordinary states by now.
 */
export async function statesOf(
  context: Listing,
  workspace: WorkspaceRecord,
): Promise<readonly StateRecord[]> {
  const { source, report, organization, states } = context
  const { name } = workspace
  const read = () => source.states(organization, workspace, states)
  const oldestFirst = await readOf(context, 'state versions', read, `all of ${name}`)
  const end = oldestFirst.findLastIndex(({ isSnapshot }) => !isSnapshot) + 1
  const count = oldestFirst.length - end
  if (count > 0) {
    report.missing(
      'state versions',
      name,
      `${count} snapshots: they become current only when the workspace is unlocked there`,
    )
  }
  return oldestFirst.slice(0, end)
}
