import { parseStored } from '../core/stored-json.ts'
import { newestAuditEvents } from '../audit/audit-list-store.ts'
import { OperatorError } from '../core/operator-error.ts'
import { auditOperator } from '../operation/command-database.ts'
import { commandName } from '../core/version.ts'
import { COMMAND_LINE_TOKEN } from '../access/operator.ts'
import { DEFAULT_MAX_TTL_MS } from '../access/token-policy.ts'
import { tokenLifetimesOf, tokenLifetimesPath } from './both-sides.ts'
import { compare, make, orReport, type Context } from './context.ts'
import type { OrganizationRecord } from './records.ts'
import type { Resource } from './source-lists.ts'

const IMPORTED = 'organization.import'
const MAX_MARKS = 1000

/** Creates the organization, or finds it from an earlier run. Undefined if it was refused. */
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
      'the token of the other server does not belong to an owner: objects that are hidden from it were not copied',
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
    await importLifetimes(context, record)
    return there
  }
  context.isNew = true
  context.isMadeLater = isDryRun
  const made = await make(context, {
    kind,
    name: record.name,
    path: '/organizations',
    attributes: { ...record.attributes, name: as },
  })
  if (made === undefined) return undefined
  await importLifetimes(context, record)
  if (isDryRun) return made
  await mark(context, String(made.attributes['external-id']))
  report.note(`${target.user.username} created the organization here, and so is an owner of it`)
  return made
}

/** Copies the maximum lifetimes of tokens, unless this server already has some. */
async function importLifetimes(context: Context, record: OrganizationRecord): Promise<void> {
  const { target, report, as, isMadeLater } = context
  const { name, attributes, tokenLifetimes } = record
  const kind = 'organizations'
  if (tokenLifetimes === null) {
    if (attributes['max-ttl-enabled'] === true) {
      report.missing(kind, name, 'how long tokens may live (token-ttl-policies) cannot be read')
    }
    return
  }
  const path = tokenLifetimesPath(as)
  const here = isMadeLater ? {} : tokenLifetimesOf(await target.list(path))
  const others = Object.entries(tokenLifetimes).filter(
    ([type, ms]) => (here[type] ?? DEFAULT_MAX_TTL_MS) !== ms,
  )
  if (others.length === 0) return
  if (Object.values(here).some((ms) => ms !== DEFAULT_MAX_TTL_MS)) {
    const types = others.map(([type]) => `token-ttl-policies of ${type}`)
    report.missing(kind, name, `another value here: ${types.join(', ')}`)
    return
  }
  const type = 'organization-token-ttl-policies'
  const policies = others.map(([tokenType, ms]) => ({ 'token-type': tokenType, 'max-ttl-ms': ms }))
  const data = { type, attributes: { 'token-ttl-policies': policies } }
  await orReport(context, kind, name, () => target.act(path, { data }, 'PATCH'))
}

/**
 * Whether an earlier run of this import created the organization. Normally its audit event says so. If the run was
 * killed before that event, there is only the event of a command that created the organization.
 */
async function wasImported({ target, source, organization }: Context, id: string): Promise<boolean> {
  const newest = (action: string) =>
    target.database.read((tx) => newestAuditEvents(tx, { organizationId: id, action }, MAX_MARKS))
  const marks = await newest(IMPORTED)
  if (marks.length === 0) {
    return (await newest('organization.create')).some(({ token_id: token }) => token === COMMAND_LINE_TOKEN)
  }
  return marks.some(({ details }) => {
    const { from, source: identity = from, name } = parseStored<Record<string, string | undefined>>(details)
    return identity === source.identity && name === organization
  })
}

async function mark({ target, source, organization }: Context, organizationId: string): Promise<void> {
  const event = {
    action: IMPORTED,
    organizationId,
    resourceType: 'organizations',
    resourceId: organizationId,
    details: { from: source.name, source: source.identity, name: organization },
  }
  await target.database.write((tx) => auditOperator(tx, target.config, event))
}

function isAnother(name: string): OperatorError {
  return new OperatorError(
    `the organization ${name} exists here already and was not imported from this source: its teams would get the ` +
      `members of the other organization. Give the copy another name with --to-organization, or pass --merge to add what is missing ` +
      `(${commandName} import --help)`,
  )
}
