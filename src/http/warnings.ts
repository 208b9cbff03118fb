import { Readable } from 'node:stream'
import { AppError, type Problem } from '../core/errors.ts'
import type { AcceptedBody } from '../jsonapi/body.ts'
import { parseJson } from '../jsonapi/json.ts'
import { unknownAttributes } from '../jsonapi/unknown-attributes.ts'
import type { Answer, AnswerBody } from './call.ts'

/** The unknown attributes of a body that gives access. The route has read it: it is JSON, or empty. */
export function unknownIn(bytes: Buffer, accepts: AcceptedBody | undefined): Problem[] {
  if (accepts === undefined || !('ignored' in accepts) || bytes.length === 0) return []
  return unknownAttributes(parseJson(bytes), { ...accepts, ignored: accepts.ignored ?? [] })
}

/**
 * Reads a body whose unknown attributes are refused, together with all other problems of it.
 *
 * @param problemsOf the problems that a body has found in itself
 */
export function readStrictly<B>(
  read: () => B,
  unknown: () => readonly Problem[],
  problemsOf: (body: B) => readonly Problem[],
): B {
  let body: B
  try {
    body = read()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid') throw error
    throw new AppError('invalid', [...error.problems, ...orNone(unknown)])
  }
  const found = unknown()
  if (found.length > 0) throw new AppError('invalid', [...problemsOf(body), ...found])
  return body
}

/** Of a body that cannot be read at all, that alone is said. */
function orNone(unknown: () => readonly Problem[]): readonly Problem[] {
  try {
    return unknown()
  } catch {
    return []
  }
}

/** The answer with `meta.warnings` before everything else. Without warnings it is the same answer. */
export function withWarnings(answer: Answer, warnings: readonly Problem[]): Answer {
  if (warnings.length === 0 || answer.body === undefined) return answer
  const shown = warnings.map(({ detail, pointer }) => ({ detail, source: { pointer } }))
  return { ...answer, body: begunWith(`{"meta":${JSON.stringify({ warnings: shown })},`, answer.body) }
}

/** Every document is an object with members. */
function begunWith(text: string, body: AnswerBody): AnswerBody {
  if (typeof body === 'string') return text + body.slice(1)
  if (Buffer.isBuffer(body)) return Buffer.concat([Buffer.from(text), body.subarray(1)])
  return Readable.from(begun(text, body), { objectMode: false })
}

async function* begun(text: string, body: AsyncIterable<string | Buffer>): AsyncGenerator<string | Buffer> {
  let isFirst = true
  for await (const piece of body) {
    yield isFirst ? text : piece
    if (isFirst && piece.length > 1) yield typeof piece === 'string' ? piece.slice(1) : piece.subarray(1)
    isFirst = false
  }
}
