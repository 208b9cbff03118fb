import { keysOf } from '../core/keys.ts'
import { accessKinds } from './both-sides.ts'
import { forEach, orReport, readOf, SOME_AT_ONCE } from './context.ts'
import { ExportFiles } from './export-files.ts'
import { organizationsOf, type ImportOptions } from './import.ts'
import {
  type OrganizationRecord,
  type ProjectRecord,
  type RecordKind,
  type StateRecord,
  type WorkspaceRecord,
} from './records.ts'
import { readJsonState, readState, statesOf } from './read-state.ts'
import { Report, type Kind } from './report.ts'
import type { Reading, Source } from './source.ts'

type ExportOptions = Pick<ImportOptions, 'organizations' | 'states' | 'progress' | 'signal'> & {
  maxStateBytes: number
  /** Called after the folder was created. */
  onBegin?: () => void
}

type Context = ExportOptions & { source: Source; files: ExportFiles; report: Report; organization: string }

/** Writes everything that an import would copy into a folder. */
export async function runExport(folder: string, source: Source, options: ExportOptions): Promise<Report> {
  const report = new Report(source.name, false)
  const records = await organizationsOf(source, options)
  using files = new ExportFiles(folder)
  options.onBegin?.()
  try {
    for (const record of records) {
      report.begin(record.name, record.name)
      await exportOrganization({ ...options, source, files, report, organization: record.name }, record)
    }
    files.finish(source.name)
  } catch (error) {
    report.endedBy(error, options.signal)
  }
  return report
}

async function exportOrganization(context: Context, record: OrganizationRecord): Promise<void> {
  const { source, files, report, organization } = context
  const copy = async <R extends object>(
    file: RecordKind,
    kind: Kind,
    read: (reading: Reading) => Promise<R[]>,
    what?: string,
    countOf = (records: R[]) => records.length,
  ): Promise<R[]> => {
    const records = await readOf(context, kind, read, what)
    for (const one of records) files.record(file, organization, one)
    report.copied(kind, countOf(records))
    return records
  }
  if (!record.isWhole) {
    report.missing(
      'organizations',
      organization,
      'the token does not belong to an owner: objects that are hidden from it are not in the files',
    )
  }
  await copy('organizations', 'organizations', async () => [record])
  const projects = await copy('projects', 'projects', (reading) => source.projects(organization, reading))
  const teams = await copy('teams', 'teams', (reading) => source.teams(organization, reading))
  const workspaces = await copy('workspaces', 'workspaces', (reading) =>
    source.workspaces(organization, reading),
  )
  await copy('members', 'memberships', (reading) => source.members(organization, reading))
  const places = { 'team-projects': projects, 'team-workspaces': workspaces }
  for (const kind of keysOf(accessKinds)) {
    const accessTo = ({ id, name }: ProjectRecord | WorkspaceRecord) =>
      copy(kind, kind, () => source.access(kind, organization, id), `all on ${name}`)
    await forEach(context, `access to ${accessKinds[kind].type}`, places[kind], accessTo, SOME_AT_ONCE)
  }
  const consumersOf = (workspace: WorkspaceRecord) =>
    copy(
      'remote-state-consumers',
      'remote state consumers',
      () => source.consumers(organization, workspace),
      `all of ${workspace.name}`,
      (records) => records.flatMap(({ consumerIds }) => consumerIds).length,
    )
  await forEach(context, 'remote state consumers', workspaces, consumersOf, SOME_AT_ONCE)
  const tokens = await readOf(context, 'organizations', () => source.tokens(organization, teams), 'tokens')
  for (const token of tokens) files.record('tokens', organization, token)
  for (const { description } of tokens) report.left('tokens', description, 'a server keeps only its hash')
  await forEach(context, 'states', workspaces, (workspace) => exportStates(context, workspace))
}

async function exportStates(context: Context, workspace: WorkspaceRecord): Promise<void> {
  const { files, report, organization, states, signal } = context
  const all = await statesOf(context, workspace)
  for (const state of states === 'current' ? all.slice(-1) : all) {
    signal.throwIfAborted()
    const what = `serial ${state.serial} of ${workspace.name}`
    await orReport(context, 'state versions', what, async () => {
      files.record('state-versions', organization, await withFiles(context, what, state))
      report.copied('state versions')
    })
  }
}

async function withFiles(context: Context, what: string, state: StateRecord): Promise<StateRecord> {
  const { source, files, maxStateBytes } = context
  const kept = await files.arriving(async (sink) => {
    await readState(source, state, maxStateBytes, sink)
    return { size: sink.size, md5: sink.md5, state: sink.keep('tfstate') }
  })
  const jsonState = await files.arriving(async (sink) =>
    (await readJsonState(context, what, state, maxStateBytes, sink)) ? sink.keep('json') : null,
  )
  return { ...state, ...kept, hasJson: jsonState !== null, jsonState }
}
