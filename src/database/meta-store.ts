import type { Transaction } from './database.ts'

export async function findMeta(tx: Transaction, key: string): Promise<string | undefined> {
  const row = await tx.db.selectFrom('meta').where('key', '=', key).select('value').executeTakeFirst()
  return row?.value
}

/** Stores a value unless there is one. Returns the stored value, which another process may have written first. */
export async function noteMeta(tx: Transaction, key: string, value: string): Promise<string> {
  await tx.db
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  return (await findMeta(tx, key)) ?? value
}

export async function setMeta(tx: Transaction, key: string, value: string): Promise<void> {
  await tx.db
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
}

export async function deleteMeta(tx: Transaction, key: string): Promise<void> {
  await tx.db.deleteFrom('meta').where('key', '=', key).execute()
}
