import { Type } from 'typebox'
import { AppError, conflict } from '../core/errors.ts'
import type { NewStateVersion } from '../state-uploads/new-state-version.ts'
import type { StateVersionRow } from './state-version-store.ts'

const MAX_SERIAL = Number.MAX_SAFE_INTEGER
const MAX_LINEAGE_LENGTH = 255

/** Only checks short text: new-state-version.ts validates the content and leaves a short text in its place. */
const base64Text = Type.Union(
  // pytfc sends null for absent attributes.
  [Type.String({ pattern: '^[A-Za-z0-9+/\\s]*(?:=\\s*){0,2}$' }), Type.Null()],
  { explain: 'must be base64' },
)

const attributes = {
  serial: Type.Integer({
    minimum: 0,
    maximum: MAX_SERIAL,
    explain: `must be a whole number from 0 to ${MAX_SERIAL}`,
  }),
  md5: Type.String({
    pattern: '^[0-9a-fA-F]{32}$',
    explain: 'must be the 32 hexadecimal digits of the MD5 hash',
  }),
  lineage: Type.Union(
    // PostgreSQL text cannot contain NUL.
    [Type.String({ maxLength: MAX_LINEAGE_LENGTH, pattern: '^[^\\u0000]*$' }), Type.Null()],
    { explain: `must be a text of at most ${MAX_LINEAGE_LENGTH} characters, without NUL` },
  ),
  force: Type.Union([Type.Boolean(), Type.Null()], { explain: 'must be true or false' }),
  // A snapshot taken during an apply that is still running.
  intermediate: Type.Union([Type.Boolean(), Type.Null()], { explain: 'must be true or false' }),
  state: base64Text,
  'json-state': base64Text,
  'json-state-outputs': base64Text,
}

/** The body of a create. `run` and unknown members are ignored, because nothing runs here. */
export const newStateVersionBody = {
  type: 'state-versions',
  attributes,
  required: ['serial', 'md5'] as const,
}

type Known = Pick<StateVersionRow, 'id' | 'serial' | 'lineage'>

const OTHER_BYTES =
  'The MD5 hash of the state provided does not match what is currently known for the same serial number. ' +
  'To make an older state the current one, roll back to its version, or push it with force'

/**
 * Checks a create against the stored versions. Throws conflicts in the order of docs/reference/state.md (create-order).
 *
 * @param same the version with this serial that is not discarded, if possible one with the same MD5 hash
 * @param newest the newest version that is current, or a snapshot that may become current
 * @returns `same` if it has the same MD5 hash, so no new version is needed
 */
export function judgeNewStateVersion(
  given: Pick<NewStateVersion, 'serial' | 'md5' | 'lineage' | 'force'>,
  same: StateVersionRow | undefined,
  newest: Known | undefined,
): StateVersionRow | undefined {
  const isPast = same !== undefined && same.status !== 'pending' && same.id !== newest?.id
  // After a lower serial was forced, the next ones are those of versions of the past.
  const isNext = newest !== undefined && given.serial > newest.serial
  if (same !== undefined && !(isPast && (given.force || isNext))) {
    if (same.md5 === given.md5) return same
    if (!given.force) throw conflict(OTHER_BYTES)
  }
  if (given.force || newest === undefined) return undefined
  if (given.lineage !== null && newest.lineage !== null && given.lineage !== newest.lineage) {
    throw conflict('The lineage provided in the state file does not match the value currently known')
  }
  if (given.serial <= newest.serial) {
    const detail =
      'The serial provided in the state file is not greater than the serial currently known remotely'
    throw new AppError('precondition-failed', detail)
  }
  return undefined
}
