import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { commandName } from '../core/version.ts'
import { readOf, type Context } from './context.ts'
import { importAccess } from './import-access.ts'
import { importConsumers } from './import-consumers.ts'
import { importMembers } from './import-members.ts'
import { importOrganization } from './import-organization.ts'
import { importStates } from './import-states.ts'
import { importProjects, importTeams, importWorkspaces } from './import-things.ts'
import type { Progress } from './progress.ts'
import { printable, Unreadable, type OrganizationRecord, type StateChoice } from './records.ts'
import { Report } from './report.ts'
import type { Source } from './source.ts'
import { withOwnClient } from './own-client.ts'

export type ImportOptions = {
  /** Empty: all organizations that the token can see. */
  organizations: readonly string[]
  /** A new name here; only for a single organization. */
  toOrganization?: string
  states: StateChoice
  isDryRun: boolean
  isMerging: boolean
  as?: string
  progress: Progress
  signal: AbortSignal
}

/** Copies organizations into the configured database. Objects from an earlier run stay unchanged. */
export async function runImport(config: Config, source: Source, options: ImportOptions): Promise<Report> {
  const { isDryRun, signal } = options
  const report = new Report(source.name, isDryRun)
  return withOwnClient(config, { isReadOnly: isDryRun, as: options.as }, async (target) => {
    try {
      for (const record of await organizationsOf(source, options)) {
        const as = options.toOrganization ?? record.name
        report.begin(record.name, as)
        const context: Context = {
          ...options,
          source,
          target,
          report,
          organization: record.name,
          as,
          isNew: false,
          isMadeLater: false,
          projects: new Map(),
          teams: new Map(),
          workspaces: new Map(),
        }
        await copyOrganization(context, record, options.isMerging)
      }
    } catch (error) {
      report.endedBy(error, signal)
    }
    return report
  })
}

export async function organizationsOf(
  source: Source,
  { organizations: names, toOrganization }: Pick<ImportOptions, 'organizations' | 'toOrganization'>,
): Promise<OrganizationRecord[]> {
  try {
    const found = await source.organizations(names)
    // An organization may be named twice, also in another case.
    const records = [...new Map(found.map((record) => [record.name, record])).values()]
    if (records.length === 0) throw new OperatorError(`the token sees no organization of ${source.name}`)
    if (toOrganization !== undefined && records.length > 1) {
      throw new OperatorError('--to-organization is for one organization: say which with --organization')
    }
    return records
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    throw new OperatorError(`the organizations of ${source.name} cannot be read: ${printable(error.message)}`)
  }
}

/** Copies objects after those that they refer to. States come last, because they take longest. */
async function copyOrganization(
  context: Context,
  record: OrganizationRecord,
  isMerging: boolean,
): Promise<void> {
  const { source, report } = context
  const { name } = record
  const organization = await importOrganization(context, record, isMerging)
  if (organization === undefined) return
  const projects = await readOf(context, 'projects', (reading) => source.projects(name, reading))
  await importProjects(context, record, organization, projects)
  const teams = await readOf(context, 'teams', (reading) => source.teams(name, reading))
  await importTeams(context, teams)
  const workspaces = await readOf(context, 'workspaces', (reading) => source.workspaces(name, reading))
  await importWorkspaces(context, workspaces)
  const members = await readOf(context, 'memberships', (reading) => source.members(name, reading))
  await importMembers(context, members, teams)
  await importAccess(context, 'team-projects', projects, teams)
  await importAccess(context, 'team-workspaces', workspaces, teams)
  await importConsumers(context, workspaces)
  const tokens = await readOf(context, 'organizations', () => source.tokens(name, teams), `tokens of ${name}`)
  for (const { description } of tokens) report.left('tokens', description, 'a server keeps only its hash')
  await importStates(context, workspaces)
  const { users, 'state versions': states } = report.copiedNow
  if (users !== undefined) {
    report.note(`users who are new here have no password and no token: ${commandName} user token makes one`)
  }
  if (states !== undefined) {
    report.note(`copied state versions are created now, by ${context.target.user.username}`)
  }
}
