import { setTimeout as delay } from 'node:timers/promises'
import { readDetails } from '../audit/audit-event-document.ts'
import { newestAuditEvents, type AuditFilter, type PrintedRow } from '../audit/audit-list-store.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Database } from '../database/database.ts'
import { findOrganizationByName } from '../organizations/organization-store.ts'
import { operatorDeps, withDatabase } from './database.ts'
import { print } from './output.ts'
import { parseMoment } from './parse.ts'

const LOOK_EVERY_MS = 500
const MOST_AT_ONCE = 10_000
/** Higher numbers may be committed before lower ones. So each look reads this many old numbers again. */
const OVERLAP = 200

/** The events of the last look, as far back as the next look reads. */
type Seen = { last: number; numbers: Set<number> }

export type AuditOptions = {
  since?: string
  organization?: string
  action?: string
  limit: number
  follow: boolean
  asJson: boolean
}

/** Prints the newest events, oldest first. With `follow` it continues until the process is stopped. */
export async function printAuditTrail(config: Config, options: AuditOptions): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const filter = await filterOf(database, options)
    const { rows, seen } = await database.read(async (tx) => {
      const newest = await newestAuditEvents(tx, {}, OVERLAP)
      const numbers = new Set(newest.map((row) => row.number))
      return {
        rows: await newestAuditEvents(tx, filter, options.limit),
        seen: { last: newest.at(-1)?.number ?? 0, numbers },
      }
    })
    for (const row of rows) printRow(row, options.asJson)
    if (options.follow) await follow(database, filter, options.asJson, seen)
  })
}

async function filterOf(
  database: Database,
  { since, organization, action }: AuditOptions,
): Promise<AuditFilter> {
  const filter: AuditFilter = {}
  if (since !== undefined) filter.since = parseMoment(since, operatorDeps.clock, 'past')
  if (action !== undefined) filter.action = action
  if (organization !== undefined) {
    const found = await database.read((tx) => findOrganizationByName(tx, organization))
    if (found === undefined) throw new OperatorError(`there is no organization ${organization}`)
    filter.organizationId = found.id
  }
  return filter
}

async function follow(database: Database, filter: AuditFilter, asJson: boolean, seen: Seen): Promise<never> {
  for (;;) {
    await delay(LOOK_EVERY_MS)
    const after = seen.last - OVERLAP
    const rows = await database.read((tx) => newestAuditEvents(tx, { ...filter, after }, MOST_AT_ONCE))
    for (const row of rows) {
      if (seen.numbers.has(row.number)) continue
      seen.numbers.add(row.number)
      seen.last = Math.max(seen.last, row.number)
      printRow(row, asJson)
    }
    for (const number of seen.numbers) if (number <= seen.last - OVERLAP) seen.numbers.delete(number)
  }
}

function printRow(row: PrintedRow, asJson: boolean): void {
  const details = readDetails(row.details)
  if (asJson) {
    const { number, at, action } = row
    const actor = { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, token: row.token_id }
    const organization =
      row.organization_id === null ? null : { id: row.organization_id, name: row.organization_name }
    const resource = { type: row.resource_type, id: row.resource_id }
    print(
      JSON.stringify({
        number,
        at,
        action,
        actor,
        organization,
        resource,
        'request-id': row.request_id,
        details,
      }),
    )
    return
  }
  const actor =
    row.actor_kind === 'system' ? 'system' : `${row.actor_kind} ${row.actor_name ?? row.actor_id ?? ''}`
  const place = row.organization_name ?? row.organization_id ?? '-'
  const rest = details !== null && Object.keys(details).length === 0 ? '' : ` ${row.details}`
  print(`${row.at}  ${actor}  ${row.action}  ${place}  ${row.resource_id}${rest}`)
}
