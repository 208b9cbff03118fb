import { sql, type Selectable } from 'kysely'
import { existing } from '../core/existing.ts'
import type { Transaction } from '../database/database.ts'
import { rowBy, updateRow } from '../database/rows.ts'
import { pageOf } from '../database/pages.ts'
import { forUpdate, isTextIn } from '../database/portable.ts'
import { prepared } from '../database/prepared.ts'
import type { StateVersionTable } from '../database/tables.ts'
import type { Page } from '../jsonapi/paging.ts'

export type StateVersionRow = Selectable<StateVersionTable>

export const statuses = [
  'pending',
  'finalized',
  'discarded',
  'backing_data_soft_deleted',
  'backing_data_permanently_deleted',
] as const satisfies StateVersionRow['status'][]

/** Of the versions that have been current: neither a pending nor a discarded upload. */
export const storedStatuses = [
  'finalized',
  'backing_data_soft_deleted',
  'backing_data_permanently_deleted',
] as const satisfies StateVersionRow['status'][]

/** Whether the content was deleted, softly or for good. Then nothing may read it. */
export function isContentDeleted({ status }: Pick<StateVersionRow, 'status'>): boolean {
  return status === 'backing_data_soft_deleted' || status === 'backing_data_permanently_deleted'
}

/** Whether there is no content any more: it was discarded or deleted. */
export function isContentOver({ status }: Pick<StateVersionRow, 'status'>): boolean {
  return status === 'discarded' || isContentDeleted({ status })
}

export const unreadableReasons = ['encrypted', 'failed'] as const

/**
 * Why the outputs of a finalized state cannot be read, which waiting does not change. Only an encrypted state has no format;
 * its outputs may have come beside it.
 */
export function unreadableOutputs(row: StateVersionRow): (typeof unreadableReasons)[number] | null {
  if (row.resources_processed === 0) return null
  if (row.state_format === null && row.given_outputs_count === null) return 'encrypted'
  return row.last_failure === null ? null : 'failed'
}

/** The upload whose chunks are the content; null if there is none. */
export function uploadOf(row: StateVersionRow, kind: 'state' | 'json-state'): string | null {
  return kind === 'state' ? row.upload_id : row.json_upload_id
}

export const findStateVersion = rowBy('state_versions', 'id')

/** The version, whose row a write locks until its end. */
export function lockStateVersion(tx: Transaction, id: string): Promise<StateVersionRow | undefined> {
  const query = tx.db.selectFrom('state_versions').where('id', '=', id).selectAll()
  return query.$call(forUpdate(tx)).executeTakeFirst()
}

/** The state version whose output ids begin with this key. */
export const findStateVersionByOutputKey = rowBy('state_versions', 'output_key')

const bySerial = prepared<{ workspaceId: string; serial: number; md5: string }>()((db, param) =>
  db
    .selectFrom('state_versions')
    .where('workspace_id', '=', param('workspaceId'))
    .where('serial', '=', param('serial'))
    .where('status', '!=', sql.lit<'discarded'>('discarded'))
    .selectAll()
    .orderBy((eb) => eb('md5', '=', param('md5')), 'desc')
    .orderBy('number', 'desc')
    .limit(1),
)

/**
 * The newest version with this serial and MD5 hash that is not discarded; without one, the newest with this serial. There
 * may be several, because a state that is pushed by force may have the serial of an older one.
 */
export function findBySerial(
  tx: Transaction,
  workspaceId: string,
  { serial, md5 }: Pick<StateVersionRow, 'serial' | 'md5'>,
): Promise<StateVersionRow | undefined> {
  return tx.first(bySerial, { workspaceId, serial, md5 })
}

type NewStateVersion = Pick<
  StateVersionRow,
  | 'id'
  | 'workspace_id'
  | 'organization_id'
  | 'output_key'
  | 'wrapped_key'
  | 'created_by_id'
  | 'created_by_kind'
  | 'lock_holder_id'
  | 'serial'
  | 'md5'
  | 'lineage'
  | 'status'
  | 'is_intermediate'
  | 'rollback_of_id'
  | 'lease_until'
  | 'created_at'
>

const insertion = prepared<NewStateVersion>()((db, param) =>
  db.insertInto('state_versions').values({
    id: param('id'),
    workspace_id: param('workspace_id'),
    number: db
      .selectFrom('state_versions')
      .where('workspace_id', '=', param('workspace_id'))
      .select(sql<number>`coalesce(max(number), 0) + 1`.as('number')),
    organization_id: param('organization_id'),
    output_key: param('output_key'),
    wrapped_key: param('wrapped_key'),
    created_by_id: param('created_by_id'),
    created_by_kind: param('created_by_kind'),
    lock_holder_id: param('lock_holder_id'),
    serial: param('serial'),
    md5: param('md5'),
    lineage: param('lineage'),
    status: param('status'),
    is_intermediate: param('is_intermediate'),
    rollback_of_id: param('rollback_of_id'),
    lease_until: param('lease_until'),
    created_at: param('created_at'),
  }),
)

/** Inserts a version with the highest number of its workspace. On PostgreSQL the caller must lock the organization. */
export async function insertStateVersion(tx: Transaction, row: NewStateVersion): Promise<void> {
  await tx.send(insertion, row)
}

export const updateStateVersion = updateRow('state_versions')

type Finalized = Pick<
  StateVersionRow,
  | 'id'
  | 'upload_id'
  | 'size'
  | 'state_format'
  | 'terraform_version'
  | 'outputs_count'
  | 'resources_count'
  | 'managed_resources_count'
  | 'resources_processed'
  | 'finalized_at'
>

const finalization = prepared<Finalized>()((db, param) =>
  db
    .updateTable('state_versions')
    .set({
      status: 'finalized',
      upload_id: param('upload_id'),
      size: param('size'),
      state_format: param('state_format'),
      terraform_version: param('terraform_version'),
      outputs_count: param('outputs_count'),
      resources_count: param('resources_count'),
      managed_resources_count: param('managed_resources_count'),
      resources_processed: param('resources_processed'),
      finalized_at: param('finalized_at'),
    })
    .where('id', '=', param('id'))
    .returningAll(),
)

/** Sets what is known of a version once its content is complete. The version must exist. */
export async function updateFinalized(tx: Transaction, row: Finalized): Promise<StateVersionRow> {
  return existing(await tx.first(finalization, row))
}

/** A page of a workspace's versions, newest first. */
export async function listStateVersions(
  tx: Transaction,
  workspaceId: string,
  among: readonly StateVersionRow['status'][] | undefined,
  page: Page,
): Promise<{ rows: StateVersionRow[]; total: number }> {
  let query = tx.db.selectFrom('state_versions').where('workspace_id', '=', workspaceId)
  if (among !== undefined) query = query.where('status', 'in', among)
  return pageOf(query, page, (found) => found.selectAll().orderBy('number', 'desc'))
}

type Neighbours = { readonly previous: string | null; readonly next: string | null }

const neighbours = prepared<{ ids: string }>()((db, param, engine) =>
  db
    .selectFrom('state_versions as version')
    .where(isTextIn(engine, 'version.id', param('ids')))
    .select((eb) => {
      const others = eb
        .selectFrom('state_versions as other')
        .whereRef('other.workspace_id', '=', 'version.workspace_id')
        .where('other.status', 'not in', ['pending', 'discarded'])
        .select('other.id')
        .limit(1)
      return [
        'version.id',
        others.whereRef('other.number', '<', 'version.number').orderBy('other.number', 'desc').as('previous'),
        others.whereRef('other.number', '>', 'version.number').orderBy('other.number').as('next'),
      ]
    }),
)

/** For each version its neighbours in the workspace, without pending and discarded versions. */
export async function neighboursOf(
  tx: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Neighbours>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.all(neighbours, { ids: JSON.stringify(ids) })
  return new Map(rows.map(({ id, ...neighbours }) => [id, neighbours]))
}

/** Whether an upload is still pending. Then the workspace must not be unlocked: the upload would have no lock. */
export async function hasPendingStateVersion(tx: Transaction, workspaceId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('state_versions')
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'pending')
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

const discarding = prepared<{ workspaceId: string }>()((db, param) =>
  db
    .updateTable('state_versions')
    .set({ status: 'discarded' })
    .where('workspace_id', '=', param('workspaceId'))
    .where('status', '=', 'pending'),
)

/** Discards the pending uploads. Chunks that already arrived are swept later. */
export async function discardPendingStateVersions(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.send(discarding, { workspaceId })
}
