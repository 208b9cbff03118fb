/** The fields of a team that a search by part of its name uses. */
export type NamedTeam = { number: number; name: string; isOpen: boolean }

// The characters of names, in lower case. Digit 0 marks the end of a name.
const alphabet = '-_0123456789abcdefghijklmnopqrstuvwxyz'
const RADIX = alphabet.length + 1
const digits = new Uint8Array(128)
for (let place = 0; place < alphabet.length; place += 1) digits[alphabet.charCodeAt(place)] = place + 1

function digitsOf(text: string): Uint8Array {
  const found = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at += 1) found[at] = digits[text.charCodeAt(at)] as number
  return found
}

/** Encodes three characters as a number. Characters after the end of a name do not count. */
function trigramAt(names: Uint8Array, place: number): number {
  const second = names[place] === 0 ? 0 : (names[place + 1] ?? 0)
  const third = second === 0 ? 0 : (names[place + 2] ?? 0)
  return ((names[place] as number) * RADIX + second) * RADIX + third
}

/** The most teams in one block. Larger blocks are faster to search but slower to rebuild after a name changes. */
export const BLOCK_SIZE = 1024

/** The part of a name to search for, in lower case. */
export class NamePart {
  readonly digits: Uint8Array
  /** The number of trigrams that begin with the part: one, or more if the part has only one or two characters. */
  readonly width: number
  /** The trigram that is looked up, and its position in the part. */
  anchorPlace = 0
  anchor: number

  constructor(text: string) {
    this.digits = digitsOf(text)
    this.width = RADIX ** Math.max(0, 3 - text.length)
    this.anchor = trigramAt(this.digits, 0)
  }

  /** Chooses the rarest trigram, so that few names have to be compared. */
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

/** The result of a search: the number of teams, and the first of them by name. */
export class FoundNames {
  count = 0
  readonly first: NamedTeam[] = []
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Returns false if the team comes after the first ones. Then so do all teams after it. */
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

/** Used while a block is built: first the count of each trigram, then its next free position. Zero between builds. */
const scratch = new Uint32Array(RADIX ** 3)
/** Overwritten by each search. */
const found = new Uint16Array(BLOCK_SIZE)
const isFound = new Uint8Array(BLOCK_SIZE)

/**
 * An index over up to 1024 names. It maps each trigram to its positions, so that a search compares only a few
 * positions. Immutable: if a team of the block changes, the block is rebuilt.
 */
export class TeamNameBlock {
  readonly #teams: readonly NamedTeam[]
  readonly #isOpen: Uint8Array
  /** All names in one array, with a zero after each. */
  readonly #names: Uint8Array
  /** The trigrams in ascending order. `#firsts` has the index of each one's first position in `#places`, and an end. */
  readonly #trigrams: Uint16Array
  readonly #firsts: Uint32Array
  /** Positions in `#names`, and the team at each position. */
  readonly #places: Uint32Array
  readonly #teamsOfPlaces: Uint16Array

  constructor(teams: readonly NamedTeam[]) {
    this.#teams = teams.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    this.#isOpen = Uint8Array.from(this.#teams, ({ isOpen }) => Number(isOpen))
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

  /** The number of positions of the trigram. */
  countOf(trigram: number): number {
    const at = this.#indexFrom(trigram)
    if (this.#trigrams[at] !== trigram) return 0
    return (this.#firsts[at + 1] as number) - (this.#firsts[at] as number)
  }

  /** Adds the teams whose name contains the part. */
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

  /** For a part of one or two characters, which many trigrams begin with. */
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

  /** The index of the first trigram that is not less than this one. */
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
