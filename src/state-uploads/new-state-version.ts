import { existing } from '../core/existing.ts'
import { invalid } from '../core/errors.ts'
import { ownTurn } from '../core/turns.ts'
import { readParsed, refuse } from '../jsonapi/body.ts'
import { MAX_BODY_DEPTH, notJson } from '../jsonapi/json.ts'
import { Base64Content } from './base64-content.ts'
import { JsonScanner } from '../state-file/json-scanner.ts'
import type { Interest, JsonVisitor } from '../state-file/json-visitor.ts'
import { decodeString } from '../state-file/raw-json.ts'
import { StateError } from '../state-file/state-error.ts'
import { newStateVersionBody } from '../state-versions/state-versions.ts'

/** Bytes scanned before other requests get a turn. */
const SLICE_BYTES = 64 * 1024
/** Every valid value is shorter, except content. So a longer one is refused without reading it. */
const MAX_VALUE_BYTES = 8 * 1024
/** Longest member name that the scanner captures. */
const MAX_NAME_BYTES = 64 * 1024
/**
 * Some clients send a byte order mark. Elsewhere the UTF-8 decoder removes it; here the bytes are scanned undecoded.
 */
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

const contentNames = ['state', 'json-state', 'json-state-outputs'] as const
type ContentName = (typeof contentNames)[number]

export type NewStateVersion = {
  serial: number
  md5: string
  lineage: string | null
  force: boolean
  isIntermediate: boolean
  content: Partial<Record<ContentName, Base64Content>>
}

/**
 * Reads the body of a create, which may have many megabytes. It is scanned in slices between other requests and never
 * parsed as a whole. Ignored members take no memory; content stays in the body until it is needed.
 */
export async function readNewStateVersion(body: Buffer): Promise<NewStateVersion> {
  const bytes = body.subarray(BYTE_ORDER_MARK.equals(body.subarray(0, 3)) ? 3 : 0)
  const visitor = new BodyVisitor(bytes)
  try {
    const scanner = new JsonScanner(visitor, 'the body', MAX_NAME_BYTES, MAX_BODY_DEPTH)
    for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
      if (start > 0) await ownTurn()
      scanner.push(bytes.subarray(start, start + SLICE_BYTES))
    }
    // A bare number has no end of its own, so a space ends it.
    scanner.push(Buffer.from(' '))
    scanner.finish()
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    throw error.code === 'not-json' || error.code === 'not-utf8' ? notJson(body) : invalid(error.problem, '')
  }
  const { content } = visitor
  for (const name of contentNames) {
    if ((await content[name]?.isBase64()) === false) visitor.attributes[name] = NOT_BASE64
  }
  const { attributes: given, problems } = readParsed(visitor.document, newStateVersionBody)
  refuse(problems)
  return {
    serial: given.serial,
    md5: given.md5.toLowerCase(),
    // As it is stored: the databases replace half a surrogate pair, and the next lineage is compared with the stored one.
    lineage: given.lineage?.toWellFormed() || null,
    force: given.force ?? false,
    isIntermediate: given.intermediate ?? false,
    content,
  }
}

const OPEN_BRACE = 0x7b
const QUOTE = 0x22
/** First byte of `null`; no other value begins with it. */
const LETTER_N = 0x6e
/** Placeholders for values that are invalid whatever their text. */
const NOT_AN_OBJECT = 0
const NOT_A_VALUE = {}
const NOT_BASE64 = '!'

type Members = Record<string, unknown>
type Place = { members: Members; name: string; isText: boolean }

/** Rebuilds the document from the members that matter. The last of repeated members wins, as in JSON.parse. */
class BodyVisitor implements JsonVisitor {
  readonly #bytes: Buffer
  #depth = 0
  #place: Place | undefined
  document: Members | undefined
  #data: Members = {}
  attributes: Members = {}
  content: Partial<Record<ContentName, Base64Content>> = {}

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  begin(rawName: string, first: number): Interest {
    const isObject = first === OPEN_BRACE
    if (this.#depth === 0) {
      if (isObject) this.document = {}
      return this.#open(isObject)
    }
    const name = decodeString(rawName)
    if (this.#depth === 1) {
      if (name !== 'data') return 'skip'
      this.#data = {}
      this.#forgetAttributes()
      existing(this.document).data = isObject ? this.#data : NOT_AN_OBJECT
      return this.#open(isObject)
    }
    if (this.#depth === 2) {
      if (name === 'type' || name === 'id') return this.#note(this.#data, name, first)
      if (name === 'relationships') this.#data.relationships = isObject ? {} : NOT_AN_OBJECT
      if (name !== 'attributes') return 'skip'
      this.#forgetAttributes()
      this.#data.attributes = isObject ? this.attributes : NOT_AN_OBJECT
      return this.#open(isObject)
    }
    if (!Object.hasOwn(newStateVersionBody.attributes, name)) return 'skip'
    return this.#note(this.attributes, name, first)
  }

  captured(_text: string, start: number, end: number): void {
    const { members, name, isText } = existing(this.#place)
    const contentName = members === this.attributes ? contentNames.find((known) => known === name) : undefined
    if (contentName === undefined) {
      const isShort = end - start <= MAX_VALUE_BYTES
      members[name] = isShort ? JSON.parse(this.#bytes.toString('utf8', start, end)) : NOT_A_VALUE
      return
    }
    const raw = this.#bytes.subarray(start + 1, end - 1)
    if (isText && raw.length > 0) this.content[contentName] = new Base64Content(raw)
    else delete this.content[contentName]
    members[name] = isText ? '' : this.#bytes[start] === LETTER_N ? null : NOT_A_VALUE
  }

  end(): void {
    this.#depth--
  }

  #open(isObject: boolean): Interest {
    if (!isObject) return 'skip'
    this.#depth++
    return 'open'
  }

  #note(members: Members, name: string, first: number): Interest {
    this.#place = { members, name, isText: first === QUOTE }
    return 'place'
  }

  #forgetAttributes(): void {
    this.attributes = {}
    this.content = {}
  }
}
