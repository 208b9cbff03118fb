import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Actor } from '../access/actor.ts'
import { holdersOf } from './bytes-in-flight.ts'
import type { Answer } from './call.ts'
import type { Deps } from './deps.ts'

/** Shorter answers are not counted: what the system takes of a connection at once is about as much. */
const FREE_BYTES = 64 * 1024
/** What a document that is made while it is sent has in memory: some pieces, and what it knows of those that were sent. */
const STREAM_BYTES = 4 * 1024 * 1024

/** Takes the answer's bytes from the budget; throws 503 when there are too few. */
export function holdAnswer(
  answer: Answer,
  { bytesInFlight }: Deps,
  actor: Actor,
  organization: { readonly id: string } | undefined,
): Answer {
  const { body } = answer
  if (!(body instanceof Readable)) {
    // Of a text this is its characters, which are bytes but for a few.
    const length = body?.length ?? 0
    if (length <= FREE_BYTES) return answer
    return { ...answer, held: bytesInFlight.take(length, holdersOf(actor, organization)) }
  }
  try {
    return {
      ...answer,
      held: bytesInFlight.take(answer.streamBytes ?? STREAM_BYTES, holdersOf(actor, organization)),
    }
  } catch (error) {
    body.destroy()
    throw error
  }
}

/** Gives them back when the answer has left, or its connection has ended. */
export function releaseWhenSent({ held }: Answer, response: ServerResponse): void {
  if (held === undefined) return
  if (response.destroyed) held.release()
  else response.once('close', () => held.release())
}
