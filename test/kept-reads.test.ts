import { types, type QueryResult } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PostgresAddress } from '../src/database/postgres-address.ts'
import { PostgresPipeline } from '../src/database/postgres-pipeline.ts'
import { ReadRecord, Replays } from '../src/database/postgres-replay.ts'
import { prepared } from '../src/database/prepared.ts'

const byId = prepared<{ id: string }>()((db, param) =>
  db.selectFrom('teams').where('id', '=', param('id')).select('name'),
)

test('the time of a read is looked at once: it can pass the limit while the statements are kept', () => {
  const pipeline = new PostgresPipeline(new PostgresAddress('postgres://'))
  onTestFinished(() => pipeline.close())
  const replays = new Replays(pipeline)
  const read = { caller: 'one', name: 'GET /teams/1' }
  // The limit is 100 ms, and each look takes 60.
  let at = 0
  const now = vi.spyOn(performance, 'now').mockImplementation(() => (at += 60))
  onTestFinished(() => now.mockRestore())
  const record = new ReadRecord()
  const fields = [{ name: 'name', dataTypeID: types.builtins.TEXT }]
  record.note(byId, { id: '1' }, { fields, rows: [{ name: 'a' }] } as QueryResult)
  replays.keep(read, record, undefined)
  expect(replays.find(read)?.steps).toHaveLength(1)
  // The next look would find that it took too long.
  expect(record.steps()).toBeUndefined()
})
