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

/**
 * Some hundred names, made to be searched: each name's trigrams point to it, so that a part of it is looked for in few
 * names only. It never changes; a block whose teams changed is made again.
 */
export class TeamNameBlock {
  readonly teams: readonly NamedTeam[]
  readonly #lower: readonly string[]
  /** Trigram × BLOCK_SIZE + place of a team that has it, ascending. */
  readonly #postings: Uint32Array

  constructor(teams: readonly NamedTeam[]) {
    this.teams = teams.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    this.#lower = this.teams.map(({ name }) => name.toLowerCase())
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

  /** The teams whose names have this part, in lower case, by name. */
  matches(part: string): NamedTeam[] {
    const found = part.length < 3 ? this.#havingPrefix(part) : this.#having(part)
    return found.map((team) => this.teams[team] as NamedTeam)
  }

  /** Of the part's trigrams the rarest says which names to look at. */
  #having(part: string): number[] {
    let from = 0
    let to = Number.POSITIVE_INFINITY
    for (let place = 0; place + 3 <= part.length; place += 1) {
      const first = trigramAt(part, place) * BLOCK_SIZE
      const start = this.#firstFrom(first)
      const end = this.#firstFrom(first + BLOCK_SIZE)
      if (end - start < to - from) {
        from = start
        to = end
      }
    }
    const found: number[] = []
    let last = -1
    for (let place = from; place < to; place += 1) {
      const team = (this.#postings[place] as number) % BLOCK_SIZE
      if (team !== last && (this.#lower[team] as string).includes(part)) found.push(team)
      last = team
    }
    return found
  }

  /** One or two characters begin many trigrams. */
  #havingPrefix(part: string): number[] {
    const width = RADIX ** (3 - part.length)
    const first = trigramAt(part, 0)
    const end = this.#firstFrom((first + width) * BLOCK_SIZE)
    const isMatch = new Uint8Array(this.teams.length)
    for (let place = this.#firstFrom(first * BLOCK_SIZE); place < end; place += 1) {
      isMatch[(this.#postings[place] as number) % BLOCK_SIZE] = 1
    }
    const found: number[] = []
    for (let team = 0; team < isMatch.length; team += 1) if (isMatch[team] === 1) found.push(team)
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
