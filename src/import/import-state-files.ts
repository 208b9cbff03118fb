import { createReadStream } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { existing } from '../core/existing.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { StateError } from '../state-file/state-error.ts'
import { StateReader } from '../state-file/state-reader.ts'
import { findStateVersion } from '../state-versions/state-version-store.ts'
import { forEach, SOME_AT_ONCE } from './context.ts'
import { currentHere, giveBackLock, giveBackOldLock, LOCK_REASON } from './import-states.ts'
import { Refused, withOwnClient, type OwnClient } from './own-client.ts'
import type { Progress } from './progress.ts'
import { Unreadable } from './records.ts'
import { relatedId, type Resource } from './source-lists.ts'
import { upTo } from './source.ts'
import { Spool } from './spool.ts'
import { factsOf } from './state-facts.ts'
import { StateFileReport, type FileResult } from './state-file-report.ts'
import { findStateFiles, type NameFrom, type StateFile } from './state-files.ts'

export type StateFilesOptions = {
  organization: string
  nameFrom: NameFrom
  isDryRun: boolean
  as?: string
  progress: Progress
  signal: AbortSignal
}

type Importing = StateFilesOptions & {
  readonly target: OwnClient
  readonly folder: string
  /** In a dry run the organization may be new: then it has no workspaces yet. */
  readonly isMadeLater: boolean
}

/** What the file holds. `outputs` is null if OpenTofu has encrypted the state. */
type Content = { spool: Spool; serial: number; lineage: string | undefined; outputs: number | null }

/** Copies each state file of a folder into the workspace that its path names. Files from an earlier run stay unchanged. */
export async function importStateFiles(
  config: Config,
  folder: string,
  options: StateFilesOptions,
): Promise<StateFileReport> {
  const { isDryRun, as, signal, organization, nameFrom } = options
  const files = findStateFiles(folder, nameFrom)
  if (files.length === 0) throw new OperatorError(`there is no file *.tfstate in ${folder}`)
  const report = new StateFileReport(resolve(folder), organization, isDryRun)
  const named = Map.groupBy(files, ({ workspace }) => workspace.toLowerCase())
  return withOwnClient(config, { isReadOnly: isDryRun, as }, async (target) => {
    const isNew = await makeOrganization(target, organization, report)
    const importing: Importing = { ...options, target, folder, isMadeLater: isNew && isDryRun }
    const work = async (file: StateFile) => {
      const twins = existing(named.get(file.workspace.toLowerCase())).filter((other) => other !== file)
      const [twin] = twins
      report.add(
        file,
        twin === undefined
          ? await importFile(importing, file)
          : { result: 'not-copied', reason: `${twin.path} has the same name` },
      )
    }
    try {
      await forEach(options, 'state files', files, work, SOME_AT_ONCE)
    } catch (error) {
      if (!signal.aborted && report.isEmpty) throw error
      report.isInterrupted = true
      if (!signal.aborted) report.note(`it ended early: ${reasonOf(error)}`)
    }
    return report
  })
}

/** Returns whether the organization was made, or would be. */
async function makeOrganization(target: OwnClient, name: string, report: StateFileReport): Promise<boolean> {
  if (await target.show(`/organizations/${encodeURIComponent(name)}`)) return false
  const { email, username } = target.user
  await target.send('POST', '/organizations', { type: 'organizations', attributes: { name, email } })
  report.note(`the organization ${name} is new, and ${username} is its owner`)
  return true
}

/** Everything that this file can be the reason for is its result; another error ends the import. */
async function importFile(importing: Importing, file: StateFile): Promise<FileResult> {
  using spool = new Spool()
  try {
    return await copyFile(importing, file, await read(importing, file, spool))
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Unreadable || error instanceof StateError)) throw error
    return { result: 'not-copied', reason: error.message }
  }
}

/** Reads the whole state as the server will, so that a file that is none leaves no empty workspace behind. */
async function read({ folder, target }: Importing, { path }: StateFile, spool: Spool): Promise<Content> {
  const reader = new StateReader('state')
  try {
    for await (const chunk of upTo(target.config.maxStateBytes, createReadStream(join(folder, path)))) {
      reader.push(chunk)
      spool.write(chunk)
    }
  } catch (error) {
    if (error instanceof OperatorError || error instanceof StateError) throw error
    throw new Unreadable(`it cannot be read: ${reasonOf(error)}`)
  }
  const { outputs } = reader.finish()
  const { serial, lineage } = factsOf(spool)
  if (serial === undefined) throw new Unreadable('it has no serial, or none at its beginning')
  return { spool, serial, lineage, outputs: outputs?.list.length ?? null }
}

async function copyFile(
  importing: Importing,
  { workspace }: StateFile,
  content: Content,
): Promise<FileResult> {
  const { target, isMadeLater, organization, isDryRun } = importing
  const { serial, outputs } = content
  const path = `/organizations/${encodeURIComponent(organization)}/workspaces`
  const there = isMadeLater ? undefined : await target.show(`${path}/${encodeURIComponent(workspace)}`)
  const copied = { result: 'copied', serial, outputs } as const
  if (there === undefined) {
    const made = await target.send('POST', path, { type: 'workspaces', attributes: { name: workspace } })
    if (!isDryRun) await sendLocked(importing, made.id, null, content)
    return copied
  }
  const current = relatedId(there, 'current-state-version')
  const found = await compare(importing, there, current, content)
  if (found !== undefined) return found
  if (!isDryRun) await sendLocked(importing, there.id, current, content)
  return copied
}

/** Undefined if the state is to be copied: the workspace has none, or an older one with the same lineage. */
async function compare(
  { target, isDryRun }: Importing,
  workspace: Resource,
  current: string | null,
  { spool, serial, lineage, outputs }: Content,
): Promise<FileResult | undefined> {
  if (current === null) return undefined
  const here = await target.database.read((tx) => findStateVersion(tx, current))
  if (here?.md5 === spool.md5) {
    // An import may have been killed after it had copied the state.
    if (!isDryRun) await giveBackOldLock({ target }, workspace.id)
    return { result: 'there', serial, outputs }
  }
  const isSame = (here?.lineage ?? undefined) === lineage?.toWellFormed()
  if (here !== undefined && isSame && here.serial < serial) return undefined
  const what = isSame ? `is not older, with serial ${here?.serial}` : 'has another lineage'
  return { result: 'not-copied', reason: `the state of the workspace here ${what}` }
}

/** Copies under the import's own lock and always releases it. */
async function sendLocked(
  { target }: Importing,
  workspaceId: string,
  current: string | null,
  { spool, serial, lineage }: Content,
): Promise<void> {
  const actions = `/workspaces/${workspaceId}/actions`
  await giveBackOldLock({ target }, workspaceId)
  await target.act(`${actions}/lock`, { reason: LOCK_REASON })
  try {
    // Until the lock was taken, others could write.
    if ((await currentHere({ target }, workspaceId)) !== current) {
      throw new Unreadable('the workspace got another state here meanwhile')
    }
    const attributes = { serial, md5: spool.md5, ...(lineage === undefined ? {} : { lineage }) }
    const path = `/workspaces/${workspaceId}/state-versions`
    const made = await target.send('POST', path, { type: 'state-versions', attributes })
    if (made.attributes.status === 'finalized') {
      throw new Unreadable('the workspace has this state already, but not as its current one')
    }
    await target.upload(String(made.attributes['hosted-state-upload-url']), spool)
  } finally {
    await giveBackLock({ target }, actions)
  }
}
