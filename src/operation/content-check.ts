import { isOwnFile } from '../database/portable.ts'
import { causeOf } from '../core/error-fields.ts'
import { AppError } from '../core/errors.ts'
import { reasonOf } from '../core/operator-error.ts'
import type { Database } from '../database/database.ts'
import type { OpenDatabase } from '../database/open.ts'
import { ContentDeletedError, DamagedContentError } from '../state-versions/damaged-content.ts'
import { outputTexts, runsOf } from '../outputs/output-parts.ts'
import { isWhole, outputsInTurn, type PlacedLargeOutput } from '../outputs/outputs.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'
import { storedContent, type ContentSource } from '../state-content/stored-content.ts'
import type { Report } from './doctor.ts'
import {
  countBlocks,
  countLeft,
  countStateVersions,
  findCheckedVersion,
  findWithoutCurrent,
  nextStateVersions,
  quickCheck,
  someStateVersions,
  type CheckedVersion,
} from './content-check-store.ts'

const VERSIONS_AT_ONCE = 200
/** What a check reads always: so many state versions, or fewer if they are large. */
const SAMPLE_VERSIONS = 20
const SAMPLE_BYTES = 64 * 1024 ** 2
/** If a version keeps changing during the check, a server is working on it, so it is fine. */
const MAX_TRIES = 5
const RESTORE = 'restore a backup from before the damage'

export type ShowProgress = (done: number, total: number) => void

type Part = 'state' | 'JSON state' | 'outputs'
type Damage = { part: Part; reason: string }

/**
 * SQLite's check of its file, without `isWhole` of all but the pages with content. PostgreSQL itself verifies the pages that
 * it reads, if checksums are on.
 */
export async function examineFile(open: OpenDatabase, isWhole: boolean, report: Report): Promise<void> {
  if (!isOwnFile(open.database)) return
  const check = open.withConnection((db) => quickCheck(db, isWhole))
  const lines = await check.catch((error: unknown) => [reasonOf(error)])
  const text = lines.join('; ').replaceAll('\n', ' ')
  const good = isWhole ? 'every page is in its place' : 'every page without content is in its place'
  if (text === '') report('database file', 'good', good)
  else report('database file', 'problem', `the file is damaged: ${text}; stop the server and ${RESTORE}`)
}

/** Reads all stored states and outputs. A server may be running at the same time. */
export async function examineStoredContent(
  database: Database,
  secretKey: Buffer,
  report: Report,
  show: ShowProgress,
): Promise<void> {
  const reading: ContentSource = { database, config: { secretKey } }
  const total = await database.read(countStateVersions)
  let [done, damaged, bytes, after] = [0, 0, 0, '']
  for (;;) {
    const from = after
    const ids = await database.read((tx) => nextStateVersions(tx, from, VERSIONS_AT_ONCE))
    for (const id of ids) {
      show(done, Math.max(total, done + 1))
      const found = await examineVersion(reading, id)
      for (const problem of found.problems) report('content', 'problem', problem)
      if (found.problems.length > 0) damaged += 1
      bytes += found.bytes
      done += 1
    }
    const last = ids.at(-1)
    if (last === undefined) break
    after = last
  }
  show(done, done)
  if (damaged === 0) {
    report(
      'content',
      'good',
      `${done} state versions, ${(bytes / 1024 ** 2).toFixed(1)} MiB: all were read and are intact`,
    )
  }
  await examineReferences(database, report)
}

/** Reads some states and outputs, other ones each time. Returns what is left unread, for the operator. */
export async function examineSample(
  database: Database,
  secretKey: Buffer | undefined,
  report: Report,
): Promise<string | undefined> {
  await examineCurrent(database, report)
  const total = await database.read(countStateVersions)
  const ids =
    secretKey === undefined ? [] : await database.read((tx) => someStateVersions(tx, SAMPLE_VERSIONS))
  let [done, damaged, bytes] = [0, 0, 0]
  for (const id of ids) {
    if (secretKey === undefined || bytes > SAMPLE_BYTES) break
    const found = await examineVersion({ database, config: { secretKey } }, id)
    for (const problem of found.problems) report('content', 'problem', problem)
    if (found.problems.length > 0) damaged += 1
    bytes += found.bytes
    done += 1
  }
  if (damaged === 0 && done > 0) {
    report('content', 'good', `${done} of ${total} state versions were read and are intact`)
  }
  const unread = [
    ...(isOwnFile(database) ? ['the pages of the file with states and outputs'] : []),
    ...(done < total ? [`${total - done} of ${total} state versions`] : []),
  ]
  return unread.length === 0 ? undefined : `${unread.join(', and ')}: purser doctor --content reads them`
}

async function examineCurrent(database: Database, report: Report): Promise<void> {
  for (const workspace of await database.read(findWithoutCurrent)) {
    report(
      'content',
      'problem',
      `the current state version of the workspace ${workspace} is lost: ${RESTORE}, or push the state again`,
    )
  }
}

async function examineReferences(database: Database, report: Report): Promise<void> {
  await examineCurrent(database, report)
  const { chunks, blocks } = await database.read(countLeft)
  if (chunks + blocks === 0) return
  const pieces = `${chunks} chunks and ${blocks} blocks of outputs`
  report(
    'content',
    'note',
    `${pieces} belong to no state version: a running server deletes them within minutes`,
  )
}

/** The damage of a version, as lines for the operator. If the version changes during the check, it is checked again. */
async function examineVersion(
  reading: ContentSource,
  id: string,
): Promise<{ problems: string[]; bytes: number }> {
  let before: StateVersionRow | undefined
  let problems: string[] = []
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const version = await reading.database.read((tx) => findCheckedVersion(tx, id))
    if (version === undefined) break
    const { row } = version
    if (before !== undefined && isSame(before, row)) return { problems, bytes: row.size }
    before = row
    const damages: Damage[] = []
    for (const part of partsOf(row)) {
      const reason = await damageOf(reading, row, part)
      if (reason !== undefined) damages.push({ part, reason })
    }
    if (damages.length === 0) return { problems: [], bytes: row.size }
    problems = damages.map((damage) => textOf(version, damage, damages))
  }
  return { problems: [], bytes: 0 }
}

function isSame(one: StateVersionRow, two: StateVersionRow): boolean {
  // Ignore the lease: a job may take it during the check without changing the content.
  const textOfRow = (row: StateVersionRow) => JSON.stringify({ ...row, lease_until: null, attempts: 0 })
  return textOfRow(one) === textOfRow(two)
}

/** The parts that this version must have. */
function partsOf(row: StateVersionRow): Part[] {
  if (row.status === 'discarded' || row.status === 'backing_data_permanently_deleted') return []
  const isPending = row.status === 'pending'
  const hasOutputs = isPending ? row.given_outputs_count !== null : row.resources_processed === 1
  return [
    ...(isPending ? [] : ['state' as const]),
    ...(row.json_upload_id === null ? [] : ['JSON state' as const]),
    ...(hasOutputs ? ['outputs' as const] : []),
  ]
}

/** Why a part cannot be read; undefined if it can, or if it was deleted during the check. */
async function damageOf(
  reading: ContentSource,
  row: StateVersionRow,
  part: Part,
): Promise<string | undefined> {
  try {
    if (part === 'outputs') await readAllOutputs(reading, row)
    else for await (const _ of storedContent(reading, row, part === 'state' ? 'state' : 'json-state'));
    return undefined
  } catch (error) {
    if (error instanceof ContentDeletedError) return undefined
    if (error instanceof DamagedContentError) return error.reason
    // With PostgreSQL this is an outage; with SQLite it is an unreadable page.
    if (error instanceof AppError && !isOwnFile(reading.database)) throw error
    return reasonOf(causeOf(error))
  }
}

async function readAllOutputs(reading: ContentSource, row: StateVersionRow): Promise<void> {
  const count = row.status === 'pending' ? row.given_outputs_count : row.outputs_count
  let pieces = 0
  for await (const outputs of outputsInTurn(reading, { ...row, outputs_count: count ?? 0 })) {
    pieces += 1
    for (const output of outputs) pieces += isWhole(output) ? 0 : await readLargeOutput(output)
  }
  const stored = await reading.database.read((tx) => countBlocks(tx, row.id))
  if (stored === pieces) return
  throw new DamagedContentError('outputs', row.id, `there are ${stored} pieces of outputs and not ${pieces}`)
}

/** Returns the number of parts. */
async function readLargeOutput(output: PlacedLargeOutput): Promise<number> {
  for (const text of outputTexts) for await (const _ of output.bytes(text));
  return new Set(outputTexts.flatMap((text) => runsOf(output, text).map(({ part }) => part))).size
}

function textOf(version: CheckedVersion, { part, reason }: Damage, damages: readonly Damage[]): string {
  const { row, workspace, isCurrent } = version
  const which = isCurrent ? 'the current state' : `serial ${row.serial}`
  const advice = adviceOf(version, part, damages)
  return `${row.id}, ${which} of the workspace ${workspace}: the ${part} cannot be read (${reason}); ${advice}`
}

function adviceOf({ row, isCurrent }: CheckedVersion, part: Part, damages: readonly Damage[]): string {
  if (row.status === 'pending') return 'upload it again'
  const isStateWhole = row.status === 'finalized' && damages.every((damage) => damage.part !== 'state')
  if (part === 'outputs' && isStateWhole)
    return 'the state is whole: roll back to this version to read them out of it'
  if (part === 'JSON state') return RESTORE
  return isCurrent
    ? `${RESTORE}, push the state again from a copy, or roll back to an earlier version`
    : `${RESTORE}, or delete the content of this version`
}
