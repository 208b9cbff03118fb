import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { SealedOutputBlock } from './output-blocks.ts'

export type StoredBlock = { firstPosition: number; sealed: Uint8Array }

const MAX_ROWS_A_STATEMENT = 50

export async function insertOutputBlocks(
  tx: Transaction,
  stateVersionId: string,
  blocks: readonly SealedOutputBlock[],
): Promise<void> {
  for (let start = 0; start < blocks.length; start += MAX_ROWS_A_STATEMENT) {
    const rows = blocks.slice(start, start + MAX_ROWS_A_STATEMENT).map(({ firstPosition, sealed }) => ({
      state_version_id: stateVersionId,
      first_position: firstPosition,
      sealed,
    }))
    await tx.db.insertInto('output_blocks').values(rows).execute()
  }
}

export async function deleteOutputBlocks(tx: Transaction, stateVersionId: string): Promise<void> {
  await tx.db.deleteFrom('output_blocks').where('state_version_id', '=', stateVersionId).execute()
}

const blocksBetween = prepared<{ stateVersionId: string; from: number; end: number }>()((db, param) =>
  db
    .selectFrom('output_blocks')
    .where('state_version_id', '=', param('stateVersionId'))
    .where('first_position', '<', param('end'))
    .where('first_position', '>=', (eb) =>
      eb.fn.coalesce(
        eb
          .selectFrom('output_blocks as earlier')
          .where('earlier.state_version_id', '=', param('stateVersionId'))
          .where('earlier.first_position', '<=', param('from'))
          .select((inner) => inner.fn.max('earlier.first_position').as('first')),
        eb.lit(0),
      ),
    )
    .select(['first_position as firstPosition', 'sealed'])
    .orderBy('first_position'),
)

/** The blocks that hold the outputs from position `from` up to, without it, `end`. */
export function findOutputBlocks(
  tx: Transaction,
  stateVersionId: string,
  from: number,
  end: number,
): Promise<StoredBlock[]> {
  return tx.all(blocksBetween, { stateVersionId, from, end })
}
