import { splitDetails } from '../audit/audit-addresses.ts'
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
import { shortName } from '../state-file/output-names.ts'
import { operatorDeps, withDatabase } from '../operation/command-database.ts'
import { followAuditEvents, UntakenEvents } from './audit-follow.ts'
import { organizationNamed } from './named.ts'
import { Columns, note, print } from './output.ts'
import { parseMoment } from './parse.ts'

export type AuditFlags = {
  since?: string
  until?: string
  organization?: string
  action?: string
  actor?: string
  output?: string
  address?: string
  limit: number
  follow?: true
  json?: true
}

/** Prints the newest events, oldest first. With `follow` it continues until the process is stopped. */
export async function printAuditTrail(config: Config, flags: AuditFlags): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const filter = await filterOf(database, flags)
    const untaken = new UntakenEvents()
    const { rows, total, found } = await database.read(async (tx) => {
      const rows = await newestAuditEvents(tx, filter, flags.limit)
      return {
        rows,
        // Counting reads all matching events.
        total: rows.length < flags.limit ? rows.length : await countMatchingEvents(tx, filter),
        found: flags.follow ? await untaken.find(tx) : undefined,
      }
    })
    const printEvents = eventPrinter(database, flags.json === true)
    await printEvents(rows)
    if (total > rows.length) note(`the newest ${rows.length} of ${total}; --limit shows more`)
    if (found !== undefined) {
      untaken.take(found)
      await followAuditEvents(database, filter, untaken, printEvents)
    } else if (rows.length === 0 && !flags.json) note('there are no such events')
  })
}

async function filterOf(
  database: Database,
  { since, until, organization, action, actor, output, address }: AuditFlags,
): Promise<AuditFilter> {
  const filter: AuditFilter = { action, actor, address }
  if (output !== undefined) filter.output = shortName(output)
  if (since !== undefined) filter.since = parseMoment(since, operatorDeps.clock, 'past')
  if (until !== undefined) filter.until = parseMoment(until, operatorDeps.clock, 'past')
  if (organization !== undefined) {
    filter.organizationId = (await database.read((tx) => organizationNamed(tx, organization))).id
  }
  return filter
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
  const { address, details: text } = splitDetails(row.details)
  const details = readDetails(text)
  const { name, username, email } = details ?? {}
  // The event's own name is the one of that time.
  const own = [name, username, names.get(row.resource_id), email].find((one) => typeof one === 'string')
  const actor = row.actor_name ?? names.get(row.actor_id ?? '') ?? row.actor_id ?? ''
  const isEmpty = details !== null && Object.keys(details).length === 0
  return [
    row.at,
    row.actor_kind === 'system' ? 'system' : `${row.actor_kind} ${actor}`,
    address ?? '-',
    row.action,
    row.organization_name ?? row.organization_id ?? '-',
    own === undefined ? row.resource_id : `${own} (${row.resource_id})`,
    isEmpty ? '' : text.replaceAll(ID, (id) => (names.has(id) ? `${names.get(id)} (${id})` : id)),
  ]
}

function jsonOf(row: PrintedRow): string {
  const { number, at, action } = row
  const { address, details } = splitDetails(row.details)
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
    address,
    details: readDetails(details),
  })
}
