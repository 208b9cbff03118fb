/** A team as a search by a part of its name needs it. */
export type NamedTeam = { number: number; name: string; visibility: 'secret' | 'organization' }

// What names are made of, without case. 0 stands for what is beyond a name's end.
const alphabet = '-_0123456789abcdefghijklmnopqrstuvwxyz'
const RADIX = alphabet.length + 1
const digits = new Uint8Array(128)
for (let place = 0; place < alphabet.length; place += 1) digits[alphabet.charCodeAt(place)] = place + 1

function digitsOf(text: string): Uint8Array {
  const found = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at += 1) found[at] = digits[text.charCodeAt(at)] as number
  return found
}

/** Three characters as a number; those behind the end of a name do not count. */
function trigramAt(names: Uint8Array, place: number): number {
  const second = names[place] === 0 ? 0 : (names[place + 1] ?? 0)
  const third = second === 0 ? 0 : (names[place + 2] ?? 0)
  return ((names[place] as number) * RADIX + second) * RADIX + third
}

/** The most teams of one block. Larger ones are searched faster and made again slower, after each change of a name. */
export const BLOCK_SIZE = 1024

/** A part of a name to look for, in lower case. */
export class NamePart {
  readonly digits: Uint8Array
  /** How many trigrams begin with the part: one, but for parts of one or two characters. */
  readonly width: number
  /** The place in the part of the trigram by which names are looked up, and that trigram. */
  anchorPlace = 0
  anchor: number

  constructor(text: string) {
    this.digits = digitsOf(text)
    this.width = RADIX ** Math.max(0, 3 - text.length)
    this.anchor = trigramAt(this.digits, 0)
  }

  /** Takes the rarest trigram: few names are looked at then. */
  anchorBy(blocks: readonly TeamNameBlock[]): void {
    let least = Number.POSITIVE_INFINITY
    for (let place = 0; place <= this.digits.length - 3; place += 1) {
      const trigram = trigramAt(this.digits, place)
      const count = blocks.reduce((sum, block) => sum + block.countOf(trigram), 0)
      if (count >= least) continue
      least = count
      this.anchor = trigram
      this.anchorPlace = place
    }
  }
}

/** What a search has found: how many teams, and the first of them by name. */
export class FoundNames {
  count = 0
  readonly first: NamedTeam[] = []
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False when the team comes after the first ones, and so do all that come after it. */
  add(team: NamedTeam): boolean {
    const { first } = this
    let from = 0
    let to = first.length
    if (to === this.#limit && (to === 0 || team.name > (first[to - 1] as NamedTeam).name)) return false
    while (from < to) {
      const middle = (from + to) >>> 1
      if ((first[middle] as NamedTeam).name < team.name) from = middle + 1
      else to = middle
    }
    first.splice(from, 0, team)
    if (first.length > this.#limit) first.pop()
    return true
  }
}

/**
 * Whether the part is there whole whose trigram at `anchor` is at `place`. It has no zero, so it is never found over the
 * end of a name.
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

/** For making a block: how often each trigram is in it, then where its next place goes. All zero in between. */
const scratch = new Uint32Array(RADIX ** 3)
/** Filled by each search anew. */
const found = new Uint16Array(BLOCK_SIZE)
const isFound = new Uint8Array(BLOCK_SIZE)

/**
 * Some hundred names, made to be searched: each trigram points to its places in them, so that a part of a name is looked
 * for at few places only. It never changes; a block whose teams changed is made again.
 */
export class TeamNameBlock {
  readonly #teams: readonly NamedTeam[]
  readonly #isOpen: Uint8Array
  /** The names one after the other, a zero behind each. */
  readonly #names: Uint8Array
  /** The trigrams of the names, ascending, and where in `#places` those of each begin; one more tells where they end. */
  readonly #trigrams: Uint16Array
  readonly #firsts: Uint32Array
  /** Places in `#names`, and the teams whose names have them. */
  readonly #places: Uint32Array
  readonly #teamsOfPlaces: Uint16Array

  constructor(teams: readonly NamedTeam[]) {
    this.#teams = teams.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    this.#isOpen = Uint8Array.from(this.#teams, ({ visibility }) => (visibility === 'organization' ? 1 : 0))
    this.#names = digitsOf(this.#teams.map(({ name }) => `${name.toLowerCase()}\0`).join(''))
    const names = this.#names
    const met: number[] = []
    for (let place = 0; place < names.length; place += 1) {
      const trigram = trigramAt(names, place)
      if (scratch[trigram] === 0) met.push(trigram)
      scratch[trigram] = (scratch[trigram] as number) + 1
    }
    this.#trigrams = Uint16Array.from(met).sort()
    this.#firsts = new Uint32Array(met.length + 1)
    let first = 0
    for (const [at, trigram] of this.#trigrams.entries()) {
      this.#firsts[at] = first
      const next = first + (scratch[trigram] as number)
      scratch[trigram] = first
      first = next
    }
    this.#firsts[met.length] = first
    this.#places = new Uint32Array(names.length)
    this.#teamsOfPlaces = new Uint16Array(names.length)
    let team = 0
    for (let place = 0; place < names.length; place += 1) {
      const trigram = trigramAt(names, place)
      const next = scratch[trigram] as number
      this.#places[next] = place
      this.#teamsOfPlaces[next] = team
      scratch[trigram] = next + 1
      if (names[place] === 0) team += 1
    }
    for (const trigram of met) scratch[trigram] = 0
  }

  /** At how many places the names have the trigram. */
  countOf(trigram: number): number {
    const at = this.#indexFrom(trigram)
    if (this.#trigrams[at] !== trigram) return 0
    return (this.#firsts[at + 1] as number) - (this.#firsts[at] as number)
  }

  /** Adds the teams that have the part in their name. */
  find(part: NamePart, isOpenOnly: boolean, all: FoundNames): void {
    let length = part.width === 1 ? this.#having(part) : this.#beginning(part)
    if (isOpenOnly) {
      let open = 0
      for (let at = 0; at < length; at += 1) {
        const team = found[at] as number
        found[open] = team
        open += this.#isOpen[team] as number
      }
      length = open
    }
    all.count += length
    for (let at = 0; at < length; at += 1) {
      if (!all.add(this.#teams[found[at] as number] as NamedTeam)) break
    }
  }

  #having({ anchor, anchorPlace, digits }: NamePart): number {
    const index = this.#indexFrom(anchor)
    if (this.#trigrams[index] !== anchor) return 0
    const end = this.#firsts[index + 1] as number
    const names = this.#names
    const places = this.#places
    const teams = this.#teamsOfPlaces
    let length = 0
    let last = -1
    for (let at = this.#firsts[index] as number; at < end; at += 1) {
      const team = teams[at] as number
      if (team === last || !hasAround(names, places[at] as number, digits, anchorPlace)) continue
      last = team
      found[length] = team
      length += 1
    }
    return length
  }

  /** One or two characters begin many trigrams. */
  #beginning({ anchor, width }: NamePart): number {
    isFound.fill(0)
    const end = this.#firsts[this.#indexFrom(anchor + width)] as number
    for (let at = this.#firsts[this.#indexFrom(anchor)] as number; at < end; at += 1) {
      isFound[this.#teamsOfPlaces[at] as number] = 1
    }
    let length = 0
    for (let team = 0; team < this.#teams.length; team += 1) {
      found[length] = team
      length += isFound[team] as number
    }
    return length
  }

  /** Where the first trigram stands that is not before this one. */
  #indexFrom(trigram: number): number {
    let low = 0
    let high = this.#trigrams.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#trigrams[middle] as number) < trigram) low = middle + 1
      else high = middle
    }
    return low
  }
}
