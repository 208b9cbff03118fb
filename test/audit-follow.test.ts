import { expect, test, vi } from 'vitest'
import { UntakenEvents } from '../src/cli/audit-follow.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createTeam, createTestOrganization } from './support/world.ts'

onEachEngine('events that are followed', (server) => {
  const take = async (untaken: UntakenEvents) =>
    untaken.take(await server.app.deps.database.read((tx) => untaken.find(tx)))
  const makeEvents = async (count: number) => {
    const organization = await createTestOrganization(server)
    await Promise.all(Array.from({ length: count }, () => createTeam(organization)))
  }
  /** As if the transaction of this event had not committed yet. Returns a function that commits it. */
  const holdBack = async (number: number) => {
    const { database } = server.app.deps
    const row = await database.write((tx) =>
      tx.db.deleteFrom('audit_events').where('number', '=', number).returningAll().executeTakeFirstOrThrow(),
    )
    return () => database.write((tx) => tx.db.insertInto('audit_events').values(row).execute())
  }

  test('are taken once, also if they are committed after hundreds of later ones', async () => {
    await makeEvents(300)
    const before = new UntakenEvents()
    const all = await take(before)
    expect(await take(before)).toEqual([])

    const early = all.at(-250) as number
    const commitEarly = await holdBack(early)
    const untaken = new UntakenEvents()
    expect(await take(untaken)).toEqual(all.filter((number) => number !== early))
    await makeEvents(3)
    const next = await take(before)
    expect(next.length).toBeGreaterThanOrEqual(3)
    expect(await take(untaken)).toEqual(next)

    await makeEvents(3)
    const middle = (await take(before)).at(-2) as number
    const commitMiddle = await holdBack(middle)
    expect(await take(untaken)).not.toContain(middle)
    await commitEarly()
    await commitMiddle()
    expect(await take(untaken)).toEqual([early, middle])
    expect(await take(untaken)).toEqual([])
  })

  test('that are missing for longer than any transaction are not looked for', async () => {
    await makeEvents(3)
    const commit = await holdBack((await take(new UntakenEvents())).at(-2) as number)
    const untaken = new UntakenEvents()
    await take(untaken)
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000)
    await take(untaken)
    now.mockRestore()
    await commit()
    expect(await take(untaken)).toEqual([])
  })
})
