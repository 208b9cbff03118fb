import { conflict, invalid } from '../core/errors.ts'
import { toOne, parseResource } from '../jsonapi/body.ts'
import type { StateHeader } from '../state-file/state-reader.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'

const RELATION = 'rollback-state-version'
const POINTER = `/data/relationships/${RELATION}`

export const rollbackBody = {
  type: 'state-versions',
  relationships: { [RELATION]: toOne('state-versions') },
  requiredRelationships: [RELATION],
} as const

/** The id of the version to roll back to. */
export function parseRollback(bytes: Uint8Array): string {
  return parseResource(bytes, rollbackBody).relationships[RELATION].data.id
}

/** Throws 422 unless the source is a finalized version of this workspace. All cases have one text. */
export function requireSource(
  workspaceId: string,
  source: StateVersionRow | undefined,
): asserts source is StateVersionRow & { upload_id: string } {
  const isSource = source?.workspace_id === workspaceId && source.status === 'finalized'
  if (!isSource) throw invalid(`${RELATION} must name a finalized state version of this workspace`, POINTER)
}

/** The place of the serial number in the state. Throws 422 if it cannot be replaced. */
export function requireSerialPlace({ encrypted, serialPlace }: StateHeader): { start: number; end: number } {
  // OpenTofu compares the serial outside the encrypted data with the one inside, which only OpenTofu can rewrite.
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

/** The serial number after the highest one of a workspace. */
export function serialAfter(highest: number): number {
  if (highest >= Number.MAX_SAFE_INTEGER)
    throw conflict('there is no higher serial number than the present one')
  return highest + 1
}

/** Replaces the serial number in the bytes of a state; every other byte stays the same. */
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
