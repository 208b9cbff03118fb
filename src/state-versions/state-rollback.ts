import { conflict, invalid } from '../core/errors.ts'
import { toOne, parseResource } from '../jsonapi/body.ts'
import type { StateHeader } from './state-reader.ts'
import type { StateVersionRow } from './state-version-store.ts'

const RELATION = 'rollback-state-version'
const POINTER = `/data/relationships/${RELATION}`

export const rollbackBody = {
  type: 'state-versions',
  relationships: { [RELATION]: toOne('state-versions') },
  requiredRelationships: [RELATION],
} as const

/** The id of the version to roll back to. */
export function parseRollback(bytes: Uint8Array): string {
  return parseResource(bytes, rollbackBody).relationships[RELATION]?.data.id as string
}

/** 422 for what cannot be rolled back to: all that is no finalized version of the workspace, in one text. */
export function requireSource(
  workspaceId: string,
  source: StateVersionRow | undefined,
): asserts source is StateVersionRow & { upload_id: string } {
  const isSource = source?.workspace_id === workspaceId && source.status === 'finalized'
  if (!isSource) throw invalid(`${RELATION} must name a finalized state version of this workspace`, POINTER)
}

/** Where the state says its serial number; 422 for a state in which no other can be written. */
export function requireSerialPlace({ encrypted, serialPlace }: StateHeader): { start: number; end: number } {
  // OpenTofu compares the serial beside the encrypted data with the one inside, which nobody else can rewrite.
  if (encrypted) {
    throw invalid(
      'the state is encrypted: OpenTofu would not read it with another serial number; push it with OpenTofu instead',
      POINTER,
    )
  }
  if (serialPlace === null) {
    throw invalid('the state has no serial number that could be replaced by the next one', POINTER)
  }
  return serialPlace
}

/** The serial number after the highest of a workspace's versions. */
export function serialAfter(highest: number): number {
  if (highest >= Number.MAX_SAFE_INTEGER)
    throw conflict('there is no higher serial number than the present one')
  return highest + 1
}

/** The bytes of a state with another serial number in the place of its own, and every other byte as it was. */
export async function* withSerial(
  content: AsyncIterable<Uint8Array>,
  place: { start: number; end: number },
  serial: number,
): AsyncGenerator<Uint8Array> {
  let at = 0
  for await (const bytes of content) {
    const within = (offset: number) => Math.min(Math.max(offset - at, 0), bytes.length)
    const [start, end] = [within(place.start), within(place.end)]
    if (start > 0) yield bytes.subarray(0, start)
    if (place.start >= at && place.start < at + bytes.length) yield Buffer.from(String(serial))
    if (end < bytes.length) yield bytes.subarray(end)
    at += bytes.length
  }
}
