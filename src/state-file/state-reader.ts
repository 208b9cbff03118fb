import { JsonScanner } from './json-scanner.ts'
import type { Interest, JsonVisitor } from './json-visitor.ts'
import { MAX_OUTPUT_BYTES, OutputsCollector, type Outputs } from './outputs-collector.ts'
import { decodeString } from './raw-json.ts'
import { StateError } from './state-error.ts'

/** What a state file says about itself. Only the shape is validated, not the facts. */
export type StateHeader = {
  /** State format; null if OpenTofu encrypted the state. */
  version: 3 | 4 | null
  encrypted: boolean
  terraformVersion: string | null
  /** Null if OpenTofu encrypted the state. */
  resourcesCount: number | null
  /** Resources that are not marked as data. */
  managedResourcesCount: number | null
  /** Byte range of the serial number in the file, so that it can be replaced. */
  serialPlace: { start: number; end: number } | null
}

/**
 * `header` is null for a document of outputs. `outputs` is null if the state is encrypted: it may have outputs, but they
 * cannot be read.
 */
export type StateContent = { header: StateHeader | null; outputs: Outputs | null }

const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const QUOTE = 0x22

const headerFields = ['version', 'terraform_version', 'serial']

type Place = 'file' | 'state' | 'outputs' | 'output' | 'modules' | 'module' | 'resources' | 'resource'
type Captured = { text: string; start: number; end: number }

/**
 * Collects what the server needs from a state, in any order of members. Format 4 has outputs at the top, format 3 in
 * the root module, and the format is known only at the end. The last of repeated members wins.
 */
class StateVisitor implements JsonVisitor {
  /** Open objects and arrays, outermost first. */
  readonly #places: Place[] = ['file']
  readonly #document: 'state' | 'outputs'
  /** Names the document in messages. */
  readonly #subject: string
  #field = ''
  readonly #header = new Map<string, Captured>()
  readonly #encryption = new Set<string>()
  /** Outputs of the top level (format 4) and of the root module (format 3). */
  #topOutputs = new OutputsCollector(true)
  #rootOutputs = new OutputsCollector(false)
  /** Resources of the top level (format 4) and of all modules (format 3). */
  #topResources = { all: 0, data: 0 }
  #moduleResources = { all: 0, data: 0 }
  /** Raw text of the current resource's mode. */
  #mode = ''
  #modulePath = ''
  #moduleOutputs = new OutputsCollector(false)
  #isObject = false

  constructor(document: 'state' | 'outputs', subject: string) {
    this.#document = document
    this.#subject = subject
  }

  begin(name: string, first: number): Interest {
    switch (this.#places.at(-1)) {
      case 'file':
        this.#isObject = first === OPEN_BRACE
        return this.#open(this.#document, this.#isObject)
      case 'state':
        return this.#beginMember(decodeString(name), first)
      case 'modules':
        if (first !== OPEN_BRACE) this.#rootOutputs.problem = notAn('object', 'A member of "modules"')
        this.#modulePath = ''
        this.#moduleOutputs = new OutputsCollector(false)
        return this.#open('module', first === OPEN_BRACE)
      case 'module':
        return this.#beginModuleMember(decodeString(name), first)
      case 'resources':
        return this.#beginResource(name, first)
      case 'resource':
        if (decodeString(name) !== 'mode') return 'skip'
        this.#mode = ''
        return first === QUOTE ? 'capture' : 'skip'
      case 'outputs': {
        const interest = this.#outputs().beginOutput(name, first)
        if (interest === 'open') this.#places.push('output')
        return interest
      }
      default:
        return this.#outputs().beginField(name)
    }
  }

  captured(text: string, start: number, end: number): void {
    const place = this.#places.at(-1)
    if (place === 'output') this.#outputs().captured(text)
    else if (place === 'module') this.#modulePath = text
    else if (place === 'resource') this.#mode = text
    else this.#header.set(this.#field, { text, start, end })
  }

  end(): void {
    const place = this.#places.pop()
    if (place === 'output') this.#outputs().endOutput()
    if (place === 'resource' && decodeString(this.#mode) === 'data') this.#topResources.data++
    if (place === 'module' && this.#modulePath === '["root"]') this.#rootOutputs.takeOver(this.#moduleOutputs)
  }

  /** Bytes of types, in addition to captured text. */
  get typeBytes(): number {
    return this.#topOutputs.typeBytes + this.#rootOutputs.typeBytes + this.#moduleOutputs.typeBytes
  }

  finish(): StateContent {
    if (!this.#isObject) throw notAn('object', this.#subject)
    if (this.#document === 'outputs') return { header: null, outputs: this.#topOutputs.finish() }
    const header = this.#readHeader()
    if (header.encrypted) return { header, outputs: null }
    return { header, outputs: (header.version === 4 ? this.#topOutputs : this.#rootOutputs).finish() }
  }

  #beginMember(name: string, first: number): Interest {
    this.#field = name
    if (headerFields.includes(name)) {
      const isContainer = first === OPEN_BRACE || first === OPEN_BRACKET
      if (isContainer) this.#header.set(name, { text: '{}', start: 0, end: 0 })
      return isContainer ? 'skip' : 'capture'
    }
    if (name === 'outputs') {
      this.#topOutputs = new OutputsCollector(true)
      if (first !== OPEN_BRACE) this.#topOutputs.problem = notAn('object', '"outputs"')
      return this.#open('outputs', first === OPEN_BRACE)
    }
    if (name === 'modules') {
      this.#rootOutputs = new OutputsCollector(false)
      this.#moduleResources = { all: 0, data: 0 }
      if (first !== OPEN_BRACKET) this.#rootOutputs.problem = notAn('array', '"modules"')
      return this.#open('modules', first === OPEN_BRACKET)
    }
    if (name === 'resources') {
      this.#topResources = { all: 0, data: 0 }
      return this.#open('resources', first === OPEN_BRACKET)
    }
    if (name === 'encrypted_data' || name === 'encryption_version') {
      if (first === QUOTE) this.#encryption.add(name)
      else this.#encryption.delete(name)
    }
    return 'skip'
  }

  #beginModuleMember(name: string, first: number): Interest {
    if (name === 'path') return 'capture'
    if (name === 'resources') return this.#open('resources', first === OPEN_BRACE)
    if (name !== 'outputs') return 'skip'
    this.#moduleOutputs = new OutputsCollector(false)
    if (first !== OPEN_BRACE) this.#moduleOutputs.problem = notAn('object', '"outputs"')
    return this.#open('outputs', first === OPEN_BRACE)
  }

  /** Format 3 marks data in the resource's name, format 4 in its mode. */
  #beginResource(name: string, first: number): Interest {
    if (this.#places[2] === 'modules') {
      this.#moduleResources.all++
      if (decodeString(name).startsWith('data.')) this.#moduleResources.data++
      return 'skip'
    }
    this.#topResources.all++
    this.#mode = ''
    return this.#open('resource', first === OPEN_BRACE)
  }

  #open(place: Place, isOpen: boolean): Interest {
    if (!isOpen) return 'skip'
    this.#places.push(place)
    return 'open'
  }

  #outputs(): OutputsCollector {
    return this.#places[2] === 'modules' ? this.#moduleOutputs : this.#topOutputs
  }

  #readHeader(): StateHeader {
    const version = this.#header.get('version')?.text
    const serial = this.#header.get('serial')
    const encrypted = version === undefined && this.#encryption.size === 2
    if (!encrypted && version !== '3' && version !== '4') {
      throw new StateError(
        'not-a-state',
        'The state is of no format that can be read: its version is not 3 or 4',
      )
    }
    const isVersion3 = version === '3'
    const resources = isVersion3 ? this.#moduleResources : this.#topResources
    const isSerial = serial !== undefined && /^(0|[1-9]\d*)$/.test(serial.text)
    return {
      version: encrypted ? null : isVersion3 ? 3 : 4,
      encrypted,
      terraformVersion: printable(this.#header.get('terraform_version')?.text),
      resourcesCount: encrypted ? null : resources.all,
      managedResourcesCount: encrypted ? null : resources.all - resources.data,
      serialPlace: isSerial ? { start: serial.start, end: serial.end } : null,
    }
  }
}

function notAn(kind: 'object' | 'array', what: string): StateError {
  return new StateError('not-a-state', `${what} is not an ${kind}`)
}

/** Returns null for text that Terraform cannot have written: the rest is stored and sent to clients. */
function printable(raw: string | undefined): string | null {
  return raw !== undefined && /^"[ !#-[\]-~]{1,255}"$/.test(raw) ? raw.slice(1, -1) : null
}

/**
 * Reads a state, or only the outputs that OpenTofu sends with one: `{ name: { sensitive, type, value } }`. It takes chunks
 * of any size, in one pass, and only outputs use memory. Throws StateError.
 */
export class StateReader {
  readonly #visitor: StateVisitor
  readonly #scanner: JsonScanner

  constructor(document: 'state' | 'outputs') {
    const subject = document === 'state' ? 'The state' : 'The document of outputs'
    this.#visitor = new StateVisitor(document, subject)
    this.#scanner = new JsonScanner(this.#visitor, subject, MAX_OUTPUT_BYTES)
  }

  get heldBytes(): number {
    return this.#visitor.typeBytes + this.#scanner.heldBytes
  }

  push(bytes: Uint8Array): void {
    this.#scanner.push(bytes)
  }

  finish(): StateContent {
    this.#scanner.finish()
    return this.#visitor.finish()
  }
}
