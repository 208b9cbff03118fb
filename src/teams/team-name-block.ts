/** A team as a search by a part of its name needs it. */
export type NamedTeam = { number: number; name: string; visibility: 'secret' | 'organization' }

// What names are made of, without case. 0 stands for what is beyond a name's end.
const alphabet = '-_0123456789abcdefghijklmnopqrstuvwxyz'
const RADIX = alphabet.length + 1
const digits = new Uint8Array(128)
for (let place = 0; place < alphabet.length; place += 1) digits[alphabet.charCodeAt(place)] = place + 1

/** Three characters as a number. */
function trigramAt(text: string, place: number): number {
  const digit = (at: number) => (at < text.length ? (digits[text.charCodeAt(at)] as number) : 0)
  return (digit(place) * RADIX + digit(place + 1)) * RADIX + digit(place + 2)
}

/** The most teams of one block: a posting has so many places for them. */
export const BLOCK_SIZE = 512

/** A part of a name to look for, in lower case. */
export class NamePart {
  readonly text: string
  /** The trigrams that a name with this part has: one of these numbers, or, of a short part, all from one to another. */
  readonly trigrams: readonly number[]
  readonly #width: number
  /** The one of `trigrams` by which names are looked up. */
  anchor: number

  constructor(text: string) {
    this.text = text
    const count = Math.max(1, text.length - 2)
    this.trigrams = Array.from({ length: count }, (_, place) => trigramAt(text, place))
    this.#width = RADIX ** Math.max(0, 3 - text.length)
    this.anchor = this.trigrams[0] as number
  }

  /** The first posting of the anchor, and the first behind it. */
  range(trigram = this.anchor): readonly [from: number, to: number] {
    return [trigram * BLOCK_SIZE, (trigram + this.#width) * BLOCK_SIZE]
  }

  /** Takes the rarest trigram: few names are looked at then. */
  anchorBy(blocks: readonly TeamNameBlock[]): void {
    let least = Number.POSITIVE_INFINITY
    for (const trigram of this.trigrams) {
      const count = blocks.reduce((sum, block) => sum + block.postingsIn(this.range(trigram)), 0)
      if (count < least) {
        least = count
        this.anchor = trigram
      }
    }
  }
}

/** Filled by each search anew. */
const places = new Uint16Array(BLOCK_SIZE)
const isPlace = new Uint8Array(BLOCK_SIZE)

/**
 * Some hundred names, made to be searched: each name's trigrams point to it, so that a part of it is looked for in few
 * names only. It never changes; a block whose teams changed is made again.
 */
export class TeamNameBlock {
  readonly teams: readonly NamedTeam[]
  readonly #lower: readonly string[]
  /** Trigram × BLOCK_SIZE + place of a team that has it, ascending. */
  readonly #postings: Uint32Array
  readonly #isOpen: Uint8Array

  constructor(teams: readonly NamedTeam[]) {
    this.teams = teams.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    this.#lower = this.teams.map(({ name }) => name.toLowerCase())
    this.#isOpen = Uint8Array.from(this.teams, ({ visibility }) => (visibility === 'organization' ? 1 : 0))
    const postings = new Uint32Array(this.#lower.reduce((sum, name) => sum + name.length, 0))
    let count = 0
    for (const [team, name] of this.#lower.entries()) {
      for (let place = 0; place < name.length; place += 1) {
        postings[count] = trigramAt(name, place) * BLOCK_SIZE + team
        count += 1
      }
    }
    this.#postings = postings.sort()
  }

  postingsIn([from, to]: readonly [number, number]): number {
    return this.#firstFrom(to) - this.#firstFrom(from)
  }

  /** How many teams have the part in their name, and the first of them by name. */
  find(part: NamePart, isOpenOnly: boolean, limit: number): { count: number; first: NamedTeam[] } {
    const found = part.text.length < 3 ? this.#beginning(part) : this.#having(part)
    const first: NamedTeam[] = []
    let count = 0
    for (let place = 0; place < found; place += 1) {
      const team = places[place] as number
      if (isOpenOnly && this.#isOpen[team] === 0) continue
      count += 1
      if (count <= limit) first.push(this.teams[team] as NamedTeam)
    }
    return { count, first }
  }

  #having(part: NamePart): number {
    const [from, to] = part.range()
    const { text } = part
    let found = 0
    let last = -1
    for (let at = this.#firstFrom(from); at < this.#postings.length; at += 1) {
      const posting = this.#postings[at] as number
      if (posting >= to) break
      const team = posting % BLOCK_SIZE
      if (team !== last && (text.length === 3 || (this.#lower[team] as string).includes(text))) {
        places[found] = team
        found += 1
      }
      last = team
    }
    return found
  }

  /** One or two characters begin many trigrams. */
  #beginning(part: NamePart): number {
    const [from, to] = part.range()
    isPlace.fill(0)
    for (let at = this.#firstFrom(from); at < this.#postings.length; at += 1) {
      const posting = this.#postings[at] as number
      if (posting >= to) break
      isPlace[posting % BLOCK_SIZE] = 1
    }
    let found = 0
    for (let team = 0; team < this.teams.length; team += 1) {
      places[found] = team
      found += isPlace[team] as number
    }
    return found
  }

  #firstFrom(posting: number): number {
    let low = 0
    let high = this.#postings.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#postings[middle] as number) < posting) low = middle + 1
      else high = middle
    }
    return low
  }
}
