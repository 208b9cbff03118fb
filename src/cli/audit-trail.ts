import { setTimeout as delay } from 'node:timers/promises'
import { readDetails } from '../audit/audit-event-document.ts'
import { findNamesOfIds } from '../audit/audit-name-store.ts'
import {
  countMatchingEvents,
  newestAuditEvents,
  type AuditFilter,
  type PrintedRow,
} from '../audit/audit-list-store.ts'
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { operatorDeps, withDatabase } from '../operation/command-database.ts'
import { organizationNamed } from './named.ts'
import { Columns, note, print } from './output.ts'
import { parseMoment } from './parse.ts'

const LOOK_EVERY_MS = 500
const MOST_AT_ONCE = 10_000
/** Higher numbers may be committed before lower ones. So each query reads this many old numbers again. */
const OVERLAP = 200

/** The events of the last look, as far back as the next look reads. */
type Seen = { last: number; numbers: Set<number> }

export type AuditFlags = {
  since?: string
  until?: string
  organization?: string
  action?: string
  limit: number
  follow?: true
  json?: true
}

/** Prints the newest events, oldest first. With `follow` it continues until the process is stopped. */
export async function printAuditTrail(config: Config, flags: AuditFlags): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const filter = await filterOf(database, flags)
    const { rows, total, seen } = await database.read(async (tx) => {
      const newest = await newestAuditEvents(tx, {}, OVERLAP)
      const numbers = new Set(newest.map((row) => row.number))
      const rows = await newestAuditEvents(tx, filter, flags.limit)
      return {
        rows,
        // Counting reads all matching events.
        total: rows.length < flags.limit ? rows.length : await countMatchingEvents(tx, filter),
        seen: { last: newest.at(-1)?.number ?? 0, numbers },
      }
    })
    const printEvents = eventPrinter(database, flags.json === true)
    await printEvents(rows)
    if (total > rows.length) note(`the newest ${rows.length} of ${total}; --limit shows more`)
    if (flags.follow) await follow(database, filter, printEvents, seen)
    else if (rows.length === 0 && !flags.json) note('there are no such events')
  })
}

async function filterOf(
  database: Database,
  { since, until, organization, action }: AuditFlags,
): Promise<AuditFilter> {
  const filter: AuditFilter = {}
  if (since !== undefined) filter.since = parseMoment(since, operatorDeps.clock, 'past')
  if (until !== undefined) filter.until = parseMoment(until, operatorDeps.clock, 'past')
  if (action !== undefined) filter.action = action
  if (organization !== undefined) {
    filter.organizationId = (await database.read((tx) => organizationNamed(tx, organization))).id
  }
  return filter
}

async function follow(
  database: Database,
  filter: AuditFilter,
  printEvents: PrintEvents,
  seen: Seen,
): Promise<never> {
  for (;;) {
    await delay(LOOK_EVERY_MS)
    const after = seen.last - OVERLAP
    const rows = await database.read((tx) => newestAuditEvents(tx, { ...filter, after }, MOST_AT_ONCE))
    const unseen = rows.filter((row) => !seen.numbers.has(row.number))
    for (const row of unseen) {
      seen.numbers.add(row.number)
      seen.last = Math.max(seen.last, row.number)
    }
    await printEvents(unseen)
    for (const number of seen.numbers) if (number <= seen.last - OVERLAP) seen.numbers.delete(number)
  }
}

/** Anything in an event that may be the id of something with a name. */
const ID = /\b(?:user|team|ws|prj|ou|sv|tws|tprj)-[1-9A-HJ-NP-Za-km-z]{16}\b/g

type PrintEvents = (rows: readonly PrintedRow[]) => Promise<void>

function eventPrinter(database: Database, asJson: boolean): PrintEvents {
  const columns = new Columns()
  return async (rows) => {
    if (rows.length === 0) return
    if (asJson) {
      for (const row of rows) print(jsonOf(row))
      return
    }
    const ids = rows.flatMap((row) => [
      row.resource_id,
      ...(row.actor_id === null ? [] : [row.actor_id]),
      ...(row.details.match(ID) ?? []),
    ])
    const names = await database.read((tx) => findNamesOfIds(tx, [...new Set(ids)]))
    for (const line of columns.lines(rows.map((row) => cellsOf(row, names)))) print(line.trimEnd())
  }
}

function cellsOf(row: PrintedRow, names: ReadonlyMap<string, string>): string[] {
  const details = readDetails(row.details)
  const { name, username, email } = details ?? {}
  // The event's own name is the one of that time.
  const own = [name, username, names.get(row.resource_id), email].find((one) => typeof one === 'string')
  const actor = row.actor_name ?? names.get(row.actor_id ?? '') ?? row.actor_id ?? ''
  const isEmpty = details !== null && Object.keys(details).length === 0
  return [
    row.at,
    row.actor_kind === 'system' ? 'system' : `${row.actor_kind} ${actor}`,
    row.action,
    row.organization_name ?? row.organization_id ?? '-',
    own === undefined ? row.resource_id : `${own} (${row.resource_id})`,
    isEmpty ? '' : row.details.replaceAll(ID, (id) => (names.has(id) ? `${names.get(id)} (${id})` : id)),
  ]
}

function jsonOf(row: PrintedRow): string {
  const { number, at, action } = row
  const organization =
    row.organization_id === null ? null : { id: row.organization_id, name: row.organization_name }
  return JSON.stringify({
    number,
    at,
    action,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, token: row.token_id },
    organization,
    resource: { type: row.resource_type, id: row.resource_id },
    'request-id': row.request_id,
    details: readDetails(row.details),
  })
}
