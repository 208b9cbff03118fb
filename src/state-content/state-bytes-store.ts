import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'

const bytesQuery = prepared<{ organizationId: string }>()((db, param) =>
  db.selectFrom('organization_bytes').where('organization_id', '=', param('organizationId')).select('bytes'),
)

/** The bytes that states and outputs of an organization take, with those that this transaction has written. */
export async function bytesOfOrganization(tx: Transaction, organizationId: string): Promise<number> {
  return (await tx.first(bytesQuery, { organizationId }))?.bytes ?? 0
}

export type StoredBytes = { readonly total: number; readonly largest: number }

/** The bytes of all organizations together, and of the one with most. */
export async function storedBytes(tx: Transaction): Promise<StoredBytes> {
  const { total, largest } = await tx.db
    .selectFrom('organization_bytes')
    .select((eb) => [
      eb.cast<number | null>(eb.fn.sum('bytes'), 'bigint').as('total'),
      eb.fn.max<number | null>('bytes').as('largest'),
    ])
    .executeTakeFirstOrThrow()
  return { total: total ?? 0, largest: largest ?? 0 }
}
