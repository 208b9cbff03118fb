import { newestAuditEvents } from '../audit/audit-list-store.ts'
import { OperatorError } from '../core/operator-error.ts'
import { commandName } from '../core/version.ts'
import { compare, make, TO_BE_MADE, type Context } from './context.ts'
import { auditCommand } from './own-server.ts'
import type { OrganizationRecord } from './records.ts'
import type { Resource } from './source-lists.ts'

export const IMPORTED = 'organization.import'
const MAX_MARKS = 1000

/** The organization here: made, or found to be there from an earlier run. Undefined when it was refused. */
export async function importOrganization(
  context: Context,
  record: OrganizationRecord,
  isMerging: boolean,
): Promise<Resource | undefined> {
  const { target, report, as, isDryRun } = context
  const kind = 'organizations'
  if (!record.isWhole) {
    report.missing(
      kind,
      record.name,
      'the token there is not that of an owner: what is hidden from it is not known here, and not copied',
    )
  }
  if (record.attributes['max-ttl-enabled'] === true) {
    report.missing(
      kind,
      record.name,
      'how long each kind of token may live (token-ttl-policies): set it here',
    )
  }
  const there = await target.show(`/organizations/${encodeURIComponent(as)}`)
  if (there !== undefined) {
    const id = String(there.attributes['external-id'])
    if (!(await wasImported(context, id))) {
      if (!isMerging) throw isAnother(as)
      if (!isDryRun) await mark(context, id)
    }
    report.there(kind)
    compare(context, kind, record.name, record.attributes, there.attributes)
    return there
  }
  context.isNew = true
  if (isDryRun) {
    report.copied(kind)
    return { id: TO_BE_MADE, type: kind, attributes: {}, relationships: {} }
  }
  const made = await make(context, {
    kind,
    name: record.name,
    path: '/organizations',
    type: kind,
    attributes: { ...record.attributes, name: as },
  })
  if (made === undefined) return undefined
  await mark(context, String(made.attributes['external-id']))
  report.note(`${target.user.username} made the organization ${as}, and so is an owner of it`)
  return made
}

/** An earlier run of this import wrote so into the audit trail. */
async function wasImported({ target, source, organization }: Context, id: string): Promise<boolean> {
  const filter = { organizationId: id, action: IMPORTED }
  const events = await target.database.read((tx) => newestAuditEvents(tx, filter, MAX_MARKS))
  return events.some(({ details }) => {
    const { from, name } = JSON.parse(details) as { from?: string; name?: string }
    return from === source.name && name === organization
  })
}

function mark({ target, source, organization }: Context, organizationId: string): Promise<void> {
  const details = { from: source.name, name: organization }
  return auditCommand(target, { action: IMPORTED, organizationId, details })
}

function isAnother(name: string): OperatorError {
  return new OperatorError(
    `there is an organization ${name} here already that was not imported from there: its teams and members would get ` +
      `what the other's have. Give it another name with --to-organization, or say --merge to add to it what is missing ` +
      `(${commandName} import --help)`,
  )
}
