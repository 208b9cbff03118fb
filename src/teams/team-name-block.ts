import { TrigramIndex, type NamePart } from './trigram-index.ts'

/** The most teams in one block. Larger blocks are faster to search but slower to read again after a name changes. */
export const BLOCK_SIZE = 1024

/**
 * A team as a search reads it: `name,number,1`, or `name,number,0` if it is secret. A comma sorts before every character
 * of a name, so these texts sort as the names do.
 */
export type NamedTeam = string

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
    if (to === this.#limit && (to === 0 || team > first[to - 1]!)) return false
    while (from < to) {
      const middle = (from + to) >>> 1
      if (first[middle]! < team) from = middle + 1
      else to = middle
    }
    first.splice(from, 0, team)
    if (first.length > this.#limit) first.pop()
    return true
  }
}

/** Overwritten by each search. */
const found = new Uint16Array(BLOCK_SIZE)

/**
 * Up to 1024 teams, whose names are searched as one text, or faster by an index. To read a block takes about a
 * millisecond, and to index it one to three. Immutable: if a team of the block changes, the block is read again.
 */
export class TeamNameBlock {
  /** By name. */
  readonly #teams: readonly NamedTeam[]
  readonly #isOpen: Uint8Array
  /** The text is all names in lower case, with a comma after each. A comma is in no part that is searched. */
  #names: string | TrigramIndex

  constructor(teams: readonly NamedTeam[]) {
    this.#teams = teams.toSorted()
    this.#isOpen = Uint8Array.from(this.#teams, (team) => Number(team.at(-1)))
    const names = this.#teams.map((team) => team.slice(0, team.indexOf(',') + 1))
    this.#names = names.join('').toLowerCase()
  }

  /** Undefined until `addIndex`. */
  get index(): TrigramIndex | undefined {
    return typeof this.#names === 'string' ? undefined : this.#names
  }

  addIndex(): void {
    if (typeof this.#names === 'string') this.#names = new TrigramIndex(this.#names)
  }

  /** Adds the teams whose name contains the part. */
  find(part: NamePart, isOpenOnly: boolean, all: FoundNames): void {
    const names = this.#names
    let length = typeof names === 'string' ? findInText(names, part.text) : names.find(part, found)
    if (isOpenOnly) {
      let open = 0
      for (let at = 0; at < length; at += 1) {
        const team = found[at]!
        found[open] = team
        open += this.#isOpen[team]!
      }
      length = open
    }
    all.count += length
    for (let at = 0; at < length; at += 1) {
      if (!all.add(this.#teams[found[at]!]!)) break
    }
  }
}

/** As `TrigramIndex.find`. */
function findInText(names: string, part: string): number {
  let name = 0
  let end = names.indexOf(',')
  let length = 0
  for (let at = names.indexOf(part); at >= 0; at = names.indexOf(part, end)) {
    for (; end < at; name += 1) end = names.indexOf(',', end + 1)
    found[length] = name
    length += 1
  }
  return length
}
