import { compareBytes } from '../core/compare-bytes.ts'
import { decodeString, scalarEnd, stringEnd } from './raw-json.ts'
import { StateError } from './state-error.ts'

/** The kinds of an output's value: the attribute `type` of the interface. Stored blocks have places of this list. */
export const outputTypes = ['string', 'number', 'boolean', 'array', 'object'] as const
export type OutputType = (typeof outputTypes)[number]

/** `detailedType` is a Terraform type as raw JSON text: `"string"`, `["list","number"]`. */
export type ResolvedType = { type: OutputType; detailedType: string }

/** Longest type inferred from a value, in characters: a type can be several times as long as its value. */
export const MAX_IMPLIED_TYPE = 16 * 1024 * 1024

/**
 * The type of an output's value. Both arguments are raw JSON text without white space. If the declared type is missing
 * or not a Terraform type, the type is inferred from the value.
 */
export function resolveType(declared: string | undefined, value: string): ResolvedType {
  const isType = declared !== undefined && typeEnd(declared, 0) === declared.length
  const detailedType = isType ? declared : impliedType(value)
  const type = kindOfType(detailedType) ?? kindsOfValues.get(value.charAt(0)) ?? 'number'
  return { type, detailedType }
}

function kindOfType(detailedType: string): OutputType | undefined {
  if (detailedType === '"string"') return 'string'
  if (detailedType === '"number"') return 'number'
  if (detailedType === '"bool"') return 'boolean'
  if (detailedType === '"dynamic"') return undefined
  return detailedType.startsWith('["map"') || detailedType.startsWith('["object"') ? 'object' : 'array'
}

/** By the first character of a value; any other begins a number. A null of unknown type counts as a string. */
const kindsOfValues: ReadonlyMap<string, OutputType> = new Map([
  ['"', 'string'],
  ['n', 'string'],
  ['t', 'boolean'],
  ['f', 'boolean'],
  ['[', 'array'],
  ['{', 'object'],
])

const primitives = ['"string"', '"number"', '"bool"', '"dynamic"']
const collections = ['["list",', '["set",', '["map",']

/** The position just after the Terraform type at `start`; -1 if there is none. */
function typeEnd(text: string, start: number): number {
  const primitive = primitives.find((name) => text.startsWith(name, start))
  if (primitive !== undefined) return start + primitive.length
  const collection = collections.find((name) => text.startsWith(name, start))
  if (collection !== undefined) return after(text, typeEnd(text, start + collection.length), ']')
  if (text.startsWith('["tuple",[', start)) return after(text, listEnd(text, start + 9, '[]', typeEnd), ']')
  if (!text.startsWith('["object",{', start)) return -1
  const end = listEnd(text, start + 10, '{}', attributeEnd)
  // The optional third member lists the optional attributes.
  const isLast = end === -1 || text[end] === ']'
  return after(text, isLast ? end : listEnd(text, after(text, end, ','), '[]', nameEnd), ']')
}

/**
 * The type to show for a masked value. Members of an object or tuple would reveal the shape of the secret, so only the
 * bare kind remains, also inside collections: `["list",["object",{"password":"string"}]]` becomes `["list","object"]`.
 */
export function maskedType(detailedType: string): string {
  const collection = collections.find((start) => detailedType.startsWith(start))
  if (collection !== undefined)
    return `${collection}${maskedType(detailedType.slice(collection.length, -1))}]`
  if (detailedType.startsWith('["tuple"')) return '"tuple"'
  return detailedType.startsWith('["object"') ? '"object"' : detailedType
}

type End = (text: string, start: number) => number

/** The position just after an array or object (see `brackets`); `memberEnd` finds the end of each member. */
function listEnd(text: string, start: number, brackets: '[]' | '{}', memberEnd: End): number {
  if (start === -1 || text[start] !== brackets[0]) return -1
  if (text[start + 1] === brackets[1]) return start + 2
  let at = start
  do at = memberEnd(text, at + 1)
  while (text[at] === ',')
  return after(text, at, brackets.charAt(1))
}

function attributeEnd(text: string, start: number): number {
  return typeEnd(text, stringEnd(text, start) + 1)
}

function nameEnd(text: string, start: number): number {
  return text[start] === '"' ? stringEnd(text, start) : -1
}

function after(text: string, at: number, character: string): number {
  return at !== -1 && text[at] === character ? at + 1 : -1
}

/** The type that Terraform infers from JSON alone: tuples and objects, never lists. */
export function impliedType(value: string): string {
  let at = 0
  let made = 0

  function count(characters: number): void {
    made += characters
    if (made <= MAX_IMPLIED_TYPE) return
    throw new StateError('too-large', `The type of an output takes more than ${MAX_IMPLIED_TYPE} characters`)
  }

  function tuple(): string {
    let types = ''
    while (value[at++] !== ']') {
      if (value[at] === ']') continue
      types += (types === '' ? '' : ',') + any()
    }
    return `["tuple",[${types}]]`
  }

  function object(): string {
    const attributes = new Map<string, string>()
    while (value[at++] !== '}') {
      if (value[at] === '}') continue
      const name = value.slice(at, stringEnd(value, at))
      at += name.length + 1
      count(name.length)
      attributes.set(decodeString(name), `${name}:${any()}`)
    }
    const sorted = [...attributes].sort(([a], [b]) => compareBytes(a, b))
    return `["object",{${sorted.map(([, attribute]) => attribute).join(',')}}]`
  }

  function any(): string {
    count(12)
    const first = value[at]
    if (first === '[') return tuple()
    if (first === '{') return object()
    at = first === '"' ? stringEnd(value, at) : scalarEnd(value, at)
    if (first === '"') return '"string"'
    if (first === 'n') return '"dynamic"'
    return first === 't' || first === 'f' ? '"bool"' : '"number"'
  }

  return any()
}
