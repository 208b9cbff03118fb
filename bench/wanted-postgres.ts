// What the figures of each row must reach on PostgreSQL, and the aims, in the order of the row's figures.
import type { Figure } from './bench.ts'

type Wanted = readonly [atLeast: number, aim?: number]

const hot: readonly Wanted[] = [[0.7, 0.9]]
const large: readonly Wanted[] = [[0.6, 0.8]]
const beside: Wanted = [0.8, 1]
/** Searches that wait until all names were read. That takes longer than from a file, which may take 200 ms. */
const first: Wanted = [600, 150]
const search: readonly Wanted[] = [[30, 10], first, first]

const wanted: Readonly<Record<string, readonly Wanted[]>> = {
  'show-team': hot,
  'show-any-team': [[0.2, 0.7]],
  'list-20': hot,
  'first-page': [[0.6, 0.8], beside],
  'last-page': large,
  'member-show': hot,
  'member-list-20': hot,
  'member-first-page': large,
  'workspaces-20': large,
  'team-workspaces-20': large,
  'memberships-20': large,
  'show-output': hot,
  'member-show-output': hot,
  'current-20': hot,
  'member-current-20': hot,
  'current-1000': large,
  'outputs-first-page': [[0.6, 0.8], beside],
  'outputs-last-page': large,
  'q-owner': search,
  'q-member': search,
  'names-owner': search,
  'names-member': search,
  'effective-access': [[50], [50], [30, 10]],
  'upload-10000': [[300, 150]],
  'upload-200mb': [
    [30, 10],
    [20, 5],
    [400, 250],
  ],
}

/** The figures of a row with the minimums of PostgreSQL. Rows without an entry keep theirs. */
export function wantedOnPostgres(row: string, figures: readonly Figure[]): Figure[] {
  const bounds = wanted[row]
  if (bounds === undefined) return [...figures]
  return figures.map((figure, place) => {
    const [atLeast, aim] = bounds[place] ?? []
    return { ...figure, atLeast, aim }
  })
}
