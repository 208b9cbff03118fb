import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import { deleteSome, inSlices } from '../database/slices.ts'
import type { SealedOutputBlock } from './output-blocks.ts'

export type StoredBlock = { firstPosition: number; sealed: Uint8Array }

const MAX_ROWS_A_STATEMENT = 50

/** So few are inserted one by one, with a prepared statement. PostgreSQL does not wait for it. */
const FEW_ROWS = 4

const blockInsertion = prepared<SealedOutputBlock & { stateVersionId: string }>()((db, param) =>
  db.insertInto('output_blocks').values({
    state_version_id: param('stateVersionId'),
    first_position: param('firstPosition'),
    part: param('part'),
    sealed: param('sealed'),
  }),
)

export async function insertOutputBlocks(
  tx: Transaction,
  stateVersionId: string,
  blocks: readonly SealedOutputBlock[],
): Promise<void> {
  if (blocks.length <= FEW_ROWS) {
    for (const { firstPosition, part, sealed } of blocks)
      await tx.send(blockInsertion, { stateVersionId, firstPosition, part, sealed })
    return
  }
  const rows = blocks.map(({ firstPosition, part, sealed }) => ({
    state_version_id: stateVersionId,
    first_position: firstPosition,
    part,
    sealed,
  }))
  const insert = (some: Readonly<typeof rows>) => tx.db.insertInto('output_blocks').values(some).execute()
  await inSlices(rows, insert, MAX_ROWS_A_STATEMENT)
}

/** Deletes some of a version's rows. Returns whether there may be more. */
export function deleteSomeOutputBlocks(tx: Transaction, stateVersionId: string): Promise<boolean> {
  return deleteSome(tx, 'output_blocks', sql`state_version_id = ${stateVersionId}`, MAX_ROWS_A_STATEMENT)
}

/** Deletes all rows of a version within this transaction. */
export async function deleteOutputBlocks(tx: Transaction, stateVersionId: string): Promise<void> {
  while (await deleteSomeOutputBlocks(tx, stateVersionId));
}

const blocksBetween = prepared<{ stateVersionId: string; from: number; end: number; limit: number }>()(
  (db, param) =>
    db
      .selectFrom('output_blocks')
      .where('state_version_id', '=', param('stateVersionId'))
      .where('part', '=', 0)
      .where('first_position', '<', param('end'))
      .where('first_position', '>=', (eb) =>
        eb.fn.coalesce(
          eb
            .selectFrom('output_blocks as earlier')
            .where('earlier.state_version_id', '=', param('stateVersionId'))
            .where('earlier.part', '=', 0)
            .where('earlier.first_position', '<=', param('from'))
            .select((inner) => inner.fn.max('earlier.first_position').as('first')),
          eb.lit(0),
        ),
      )
      .select(['first_position as firstPosition', 'sealed'])
      .orderBy('first_position')
      .limit(param('limit')),
)

/** The blocks with outputs at positions `from` to `end` (exclusive), in order, at most `limit` of them. */
export function findOutputBlocks(
  tx: Transaction,
  stateVersionId: string,
  from: number,
  end: number,
  limit: number,
): Promise<StoredBlock[]> {
  return tx.all(blocksBetween, { stateVersionId, from, end, limit })
}

const partOf = prepared<{ stateVersionId: string; position: number; part: number }>()((db, param) =>
  db
    .selectFrom('output_blocks')
    .where('state_version_id', '=', param('stateVersionId'))
    .where('first_position', '=', param('position'))
    .where('part', '=', param('part'))
    .select('sealed'),
)

/** One stored part of the large output at a position. */
export async function findOutputPart(
  tx: Transaction,
  stateVersionId: string,
  position: number,
  part: number,
): Promise<Uint8Array | undefined> {
  return (await tx.first(partOf, { stateVersionId, position, part }))?.sealed
}
