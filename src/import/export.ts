import { forEach, readOf, SOME_AT_ONCE } from './context.ts'
import { ExportFiles } from './export-files.ts'
import { organizationsOf, type ImportOptions } from './import.ts'
import {
  Unreadable,
  type OrganizationRecord,
  type ProjectRecord,
  type StateRecord,
  type WorkspaceRecord,
} from './records.ts'
import { readState, withoutSnapshots } from './read-state.ts'
import { Report } from './report.ts'
import type { Source } from './source.ts'

type ExportOptions = Pick<ImportOptions, 'organizations' | 'states' | 'progress' | 'signal'> & {
  maxStateBytes: number
  /** Called after the folder was created. */
  onBegin?: () => void
}

type Context = ExportOptions & { source: Source; files: ExportFiles; report: Report; organization: string }

/** Writes everything that an import would copy into a folder. */
export async function runExport(folder: string, source: Source, options: ExportOptions): Promise<Report> {
  const { progress, signal } = options
  const report = new Report(source.name, false)
  const records = await organizationsOf(source, options)
  const files = new ExportFiles(folder)
  options.onBegin?.()
  try {
    for (const record of records) {
      report.begin(record.name, record.name)
      await exportOrganization({ ...options, source, files, report, organization: record.name }, record)
    }
    files.finish(source.name)
  } catch (error) {
    report.endedBy(error, signal)
  } finally {
    progress.clear()
    files.close()
  }
  return report
}

async function exportOrganization(context: Context, record: OrganizationRecord): Promise<void> {
  const { source, files, report, organization } = context
  const write = (kind: Parameters<ExportFiles['record']>[0], records: readonly object[]) => {
    for (const one of records) files.record(kind, organization, one)
  }
  if (!record.isWhole) {
    report.missing(
      'organizations',
      organization,
      'the token does not belong to an owner: objects that are hidden from it are not in the files',
    )
  }
  write('organizations', [record])
  report.copied('organizations')
  const projects = await readOf(context, 'projects', (reading) => source.projects(organization, reading))
  write('projects', projects)
  report.copied('projects', projects.length)
  const teams = await readOf(context, 'teams', (reading) => source.teams(organization, reading))
  write('teams', teams)
  report.copied('teams', teams.length)
  const workspaces = await readOf(context, 'workspaces', (reading) =>
    source.workspaces(organization, reading),
  )
  write('workspaces', workspaces)
  report.copied('workspaces', workspaces.length)
  const members = await readOf(context, 'memberships', (reading) => source.members(organization, reading))
  write('members', members)
  report.copied('memberships', members.length)
  const projectAccess = async (project: ProjectRecord) => {
    const read = () => source.projectAccess(organization, project)
    const access = await readOf(context, 'team-projects', read, `all on ${project.name}`)
    write('team-projects', access)
    report.copied('team-projects', access.length)
  }
  await forEach(context, 'access to projects', projects, projectAccess, SOME_AT_ONCE)
  const workspaceAccess = async (workspace: WorkspaceRecord) => {
    const read = () => source.workspaceAccess(organization, workspace)
    const access = await readOf(context, 'team-workspaces', read, `all on ${workspace.name}`)
    write('team-workspaces', access)
    report.copied('team-workspaces', access.length)
  }
  await forEach(context, 'access to workspaces', workspaces, workspaceAccess, SOME_AT_ONCE)
  const consumersOf = async (workspace: WorkspaceRecord) => {
    const read = () => source.consumers(organization, workspace)
    const consumers = await readOf(context, 'remote state consumers', read, `all of ${workspace.name}`)
    write('remote-state-consumers', consumers)
    report.copied('remote state consumers', consumers.flatMap(({ consumerIds }) => consumerIds).length)
  }
  await forEach(context, 'remote state consumers', workspaces, consumersOf, SOME_AT_ONCE)
  const tokens = await readOf(context, 'organizations', () => source.tokens(organization, teams), 'tokens')
  write('tokens', tokens)
  for (const { description } of tokens) report.left('tokens', description, 'a server keeps only its hash')
  await forEach(context, 'states', workspaces, (workspace) => exportStates(context, workspace))
}

async function exportStates(context: Context, workspace: WorkspaceRecord): Promise<void> {
  const { source, files, report, organization, states, signal } = context
  const read = () => source.states(organization, workspace, states)
  const listed = await readOf(context, 'state versions', read, `all of ${workspace.name}`)
  const all = withoutSnapshots(report, workspace.name, listed)
  for (const state of states === 'current' ? all.slice(-1) : all) {
    signal.throwIfAborted()
    const what = `serial ${state.serial} of ${workspace.name}`
    try {
      files.record('state-versions', organization, await withFiles(context, what, state))
      report.copied('state versions')
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      report.missing('state versions', what, error.message)
    }
  }
}

async function withFiles(
  { source, files, report, maxStateBytes }: Context,
  what: string,
  state: StateRecord,
): Promise<StateRecord> {
  const kept = await files.arriving(async (sink) => {
    await readState(source, state, maxStateBytes, sink)
    return { size: sink.size, md5: sink.md5, state: sink.keep('tfstate') }
  })
  if (!state.hasJson) return { ...state, ...kept, jsonState: null }
  try {
    const jsonState = await files.arriving(async (sink) => {
      await source.content(state, 'jsonState', maxStateBytes, sink)
      return sink.keep('json')
    })
    return { ...state, ...kept, jsonState }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    report.missing('state versions', `JSON state of ${what}`, error.message)
    return { ...state, ...kept, hasJson: false, jsonState: null }
  }
}
