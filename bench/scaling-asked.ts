// What is measured while the data grows: the kinds of rows, and how one is written.
import type { Database } from '../src/database/database.ts'
import { wire, type Purser } from './purser.ts'

export const WRITES = 200
const PAGE = 20

/** A request that is measured at each size. Several requests are sent once each. */
export type Asked = {
  readonly what: string
  /**
   * `constant`: must not grow. `counts`: a first page that grows because the database counts or sorts all that it lists.
   * `answer`: the answer has more in it. `search`: there is more to look through.
   */
  readonly growth: 'constant' | 'counts' | 'answer' | 'search'
  readonly requests: readonly string[]
  readonly status?: string
}

export type Dimension = {
  readonly name: string
  readonly sizes: readonly number[]
  /** Its lists have the data of the whole site, so each size is measured before the next is made. */
  readonly isOfSite?: true
  /** Makes the data, before the server starts. Then says what to ask the server. */
  readonly make: (database: Database, size: number) => Promise<(purser: Purser) => Promise<Asked[]>>
}

export const AS_MEMBER = ', as a member'

export const pageOf = (path: string, number: number) => `${path}?page%5Bnumber%5D=${number}`
export const lastPageOf = (path: string, size: number) => pageOf(path, Math.ceil(size / PAGE))
export const filtered = (path: string, name: string, value: string) =>
  `${path}?${encodeURIComponent(name)}=${encodeURIComponent(value)}`

/** Reads of one caller. */
export function readsOf(token: string, who = '') {
  return (what: string, path: string, growth: Asked['growth'] = 'constant'): Asked => ({
    what: what + who,
    growth,
    requests: [wire('GET', path, token)],
  })
}

type Sent = readonly [method: string, path: string, body?: unknown]

/** Writes, each of which is sent once. */
export function writes(what: string, status: string, requests: readonly string[]): Asked {
  return { what, growth: 'constant', status, requests }
}

/** Writes of one caller, each of which is sent once. */
export function sentBy(token: string) {
  return (what: string, status: string, sent: readonly Sent[]): Asked => {
    const requests = sent.map(([method, path, body]) => wire(method, path, token, body))
    return writes(what, status, requests)
  }
}

export const withAttributes = (type: string, attributes: object) => ({ data: { type, attributes } })

/** The body that gives a team read access to a workspace or project. */
export const readAccess = (kind: 'workspace' | 'project', placeId: string, teamId: string) => ({
  data: {
    type: `team-${kind}s`,
    attributes: { access: 'read' },
    relationships: {
      [kind]: { data: { type: `${kind}s`, id: placeId } },
      team: { data: { type: 'teams', id: teamId } },
    },
  },
})

/** Writes of one caller, each with another name. */
export function writesOf(token: string) {
  const send = sentBy(token)
  return (
    what: string,
    [method, path, status = '200']: readonly [method: string, path: string, status?: string],
    type: string,
    attributesOf = (number: number): object => ({ name: `new-${number}` }),
  ): Asked =>
    send(
      what,
      status,
      Array.from({ length: WRITES }, (_, number) => [
        method,
        path,
        withAttributes(type, attributesOf(number)),
      ]),
    )
}
