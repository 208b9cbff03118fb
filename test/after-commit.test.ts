import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onEachEngine } from './support/on-each-engine.ts'
import { createTestOrganization, uniqueName } from './support/world.ts'

onEachEngine('work after a commit', (server) => {
  test('is done when other transactions see what was written, and before the write resolves', async () => {
    const { id } = await createTestOrganization(server)
    const { database } = server.app.deps
    const email = `${uniqueName('after')}@example.com`
    const seen: Promise<string>[] = []
    await database.write(async (tx) => {
      tx.afterCommit(() => seen.push(database.read(emailOf)))
      await tx.db.updateTable('organizations').set({ email }).where('id', '=', id).execute()
      expect(seen).toEqual([])
    })
    expect(seen).toHaveLength(1)
    expect(await seen[0]).toBe(email)

    async function emailOf({ db }: Parameters<Parameters<typeof database.read>[0]>[0]): Promise<string> {
      const row = await db
        .selectFrom('organizations')
        .select('email')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return row.email
    }
  })

  test('is not done when the write is rolled back', async () => {
    const { database } = server.app.deps
    let isDone = false
    const failing = database.write(async (tx) => {
      tx.afterCommit(() => (isDone = true))
      await sql`select 1`.execute(tx.db)
      throw new Error('undo this')
    })
    await expect(failing).rejects.toThrow('undo this')
    expect(isDone).toBe(false)
  })
})
