// The characters of names, in lower case. Digit 0 marks the end of a name.
const alphabet = '-_0123456789abcdefghijklmnopqrstuvwxyz'
const RADIX = alphabet.length + 1
const digits = new Uint8Array(128)
for (let place = 0; place < alphabet.length; place += 1) digits[alphabet.charCodeAt(place)] = place + 1

function digitsOf(text: string): Uint8Array {
  const found = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at += 1) found[at] = digits[text.charCodeAt(at)]!
  return found
}

/** Encodes three characters as a number. Characters after the end of a name do not count. */
function trigramAt(names: Uint8Array, place: number): number {
  const second = names[place] === 0 ? 0 : (names[place + 1] ?? 0)
  const third = second === 0 ? 0 : (names[place + 2] ?? 0)
  return (names[place]! * RADIX + second) * RADIX + third
}

/** The part of a name to search for, in lower case and not empty. */
export class NamePart {
  readonly text: string
  readonly digits: Uint8Array
  /** The number of trigrams that begin with the part: one, or more if the part has only one or two characters. */
  readonly width: number
  /** The trigram that is looked up, and its position in the part. */
  anchorPlace = 0
  anchor: number

  constructor(text: string) {
    this.text = text
    this.digits = digitsOf(text)
    this.width = RADIX ** Math.max(0, 3 - text.length)
    this.anchor = trigramAt(this.digits, 0)
  }

  /** Chooses the rarest trigram, so that few names have to be compared. */
  anchorBy(indexes: readonly TrigramIndex[]): void {
    let least = Number.POSITIVE_INFINITY
    for (let place = 0; place <= this.digits.length - 3; place += 1) {
      const trigram = trigramAt(this.digits, place)
      const count = indexes.reduce((sum, index) => sum + index.countOf(trigram), 0)
      if (count >= least) continue
      least = count
      this.anchor = trigram
      this.anchorPlace = place
    }
  }
}

/**
 * Whether the whole part is at `place`, given that its trigram at `anchor` matches there. The part contains no zero, so
 * a match never extends beyond the end of a name.
 */
function hasAround(names: Uint8Array, place: number, part: Uint8Array, anchor: number): boolean {
  const begin = place - anchor
  if (begin < 0) return false
  for (let at = anchor + 3; at < part.length; at += 1) {
    if (names[begin + at] !== part[at]) return false
  }
  for (let at = 0; at < anchor; at += 1) {
    if (names[begin + at] !== part[at]) return false
  }
  return true
}

/** Used while an index is built: first the count of each trigram, then its next free position. */
const scratch = new Uint32Array(RADIX ** 3)

/** The positions of each trigram in a text of names, so that a search compares only a few positions. */
export class TrigramIndex {
  /** All names in one array, with a zero after each. */
  readonly #names: Uint8Array
  /** The trigrams in ascending order. `#firsts` has the index of each one's first position in `#places`, and an end. */
  readonly #trigrams: Uint16Array
  readonly #firsts: Uint32Array
  /** Positions in `#names`, and the name at each position, counted from 0. */
  readonly #places: Uint32Array
  readonly #namesOfPlaces: Uint16Array
  /** Of the names. */
  readonly #count: number

  /** `text`: the names in lower case, with a character after each that is in no name. */
  constructor(text: string) {
    this.#names = digitsOf(text)
    const names = this.#names
    scratch.fill(0)
    this.#places = new Uint32Array(names.length)
    this.#namesOfPlaces = new Uint16Array(names.length)
    const met: number[] = []
    for (let place = 0; place < names.length; place += 1) {
      const trigram = trigramAt(names, place)
      if (scratch[trigram] === 0) met.push(trigram)
      scratch[trigram] = scratch[trigram]! + 1
    }
    this.#trigrams = Uint16Array.from(met).sort()
    this.#firsts = new Uint32Array(met.length + 1)
    let first = 0
    for (const [at, trigram] of this.#trigrams.entries()) {
      this.#firsts[at] = first
      const next = first + scratch[trigram]!
      scratch[trigram] = first
      first = next
    }
    this.#firsts[met.length] = first
    let name = 0
    for (let place = 0; place < names.length; place += 1) {
      const trigram = trigramAt(names, place)
      const next = scratch[trigram]!
      this.#places[next] = place
      this.#namesOfPlaces[next] = name
      scratch[trigram] = next + 1
      if (names[place] === 0) name += 1
    }
    this.#count = name
  }

  /** The number of positions of the trigram. */
  countOf(trigram: number): number {
    const at = this.#indexFrom(trigram)
    if (this.#trigrams[at] !== trigram) return 0
    return this.#firsts[at + 1]! - this.#firsts[at]!
  }

  /** Writes which names contain the part, in ascending order, and returns how many. */
  find(part: NamePart, found: Uint16Array): number {
    return part.width === 1 ? this.#having(part, found) : this.#beginning(part, found)
  }

  #having({ anchor, anchorPlace, digits }: NamePart, found: Uint16Array): number {
    const index = this.#indexFrom(anchor)
    if (this.#trigrams[index] !== anchor) return 0
    const end = this.#firsts[index + 1]!
    const names = this.#names
    const places = this.#places
    const namesOfPlaces = this.#namesOfPlaces
    let length = 0
    let last = -1
    for (let at = this.#firsts[index]!; at < end; at += 1) {
      const name = namesOfPlaces[at]!
      if (name === last || !hasAround(names, places[at]!, digits, anchorPlace)) continue
      last = name
      found[length] = name
      length += 1
    }
    return length
  }

  /** For a part of one or two characters, which many trigrams begin with. */
  #beginning({ anchor, width }: NamePart, found: Uint16Array): number {
    const isMet = new Uint8Array(this.#count)
    const end = this.#firsts[this.#indexFrom(anchor + width)]!
    for (let at = this.#firsts[this.#indexFrom(anchor)]!; at < end; at += 1) {
      isMet[this.#namesOfPlaces[at]!] = 1
    }
    let length = 0
    for (let name = 0; name < this.#count; name += 1) {
      found[length] = name
      length += isMet[name]!
    }
    return length
  }

  /** The index of the first trigram that is not less than this one. */
  #indexFrom(trigram: number): number {
    let low = 0
    let high = this.#trigrams.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#trigrams[middle]! < trigram) low = middle + 1
      else high = middle
    }
    return low
  }
}
