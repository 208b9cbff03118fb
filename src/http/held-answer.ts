import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { holdersOf } from '../core/bytes-in-flight.ts'
import type { Answer } from './call.ts'
import type { Deps } from './deps.ts'
import type { Decided, Loaded } from './route.ts'

/** Shorter answers are not counted: the system's send buffer takes about this much at once. */
const FREE_BYTES = 64 * 1024
/** Memory of a document that is made while it is sent: some pieces, and a record of what was sent. */
const STREAM_BYTES = 4 * 1024 * 1024

/** Takes the answer's bytes from the budget. Throws 503 if too few are free. */
export function holdAnswer(
  answer: Answer,
  { bytesInFlight }: Deps,
  { actor, resource }: Decided<unknown, Loaded>,
): Answer {
  const { body } = answer
  const isStream = body instanceof Readable
  // The length of a text is its number of characters, which is nearly its number of bytes.
  const bytes = isStream ? (answer.streamBytes ?? STREAM_BYTES) : (body?.length ?? 0)
  if (!isStream && bytes <= FREE_BYTES) return answer
  try {
    return { ...answer, held: bytesInFlight.take(bytes, holdersOf(actor, resource.organization)) }
  } catch (error) {
    if (isStream) body.destroy()
    throw error
  }
}

/** Releases the bytes once the answer was sent or its connection has ended. */
export function releaseWhenSent({ held }: Answer, response: ServerResponse): void {
  if (held === undefined) return
  if (response.destroyed) held.release()
  else response.once('close', () => held.release())
}
