import { hash } from 'node:crypto'
import { answerOf, tagged, type Answer, type AnswerBody, type Call } from './call.ts'

/** The tags of cached documents, so that each is hashed once. */
const tags = new WeakMap<Buffer, string>()

/**
 * The answer of a route that pages poll. It has an ETag, the hash of the body, if a page asks for it or a client that has
 * an ETag. All others get the answer without one: they do not poll, so nothing is hashed for them.
 */
export function polledAnswer({ headers }: Call, made: AnswerBody | Answer): Answer {
  const isBody = typeof made === 'string' || Buffer.isBuffer(made)
  const isWanted = headers['x-purser-page'] !== undefined || headers['if-none-match'] !== undefined
  return isBody && isWanted ? tagged(tagOf(made), made) : answerOf(200, made)
}

function tagOf(body: string | Buffer): string {
  if (typeof body === 'string') return hash('sha256', body, 'base64url')
  const known = tags.get(body)
  if (known !== undefined) return known
  const tag = hash('sha256', body, 'base64url')
  tags.set(body, tag)
  return tag
}
