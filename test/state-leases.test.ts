import { expect, test } from 'vitest'
import { openDatabase } from '../src/database/open.ts'
import { readConfig } from '../src/config.ts'
import { Client } from './support/client.ts'
import { engines } from './support/engines.ts'
import { ADMIN_TOKEN, Purser, settingsFor } from './support/purser.ts'
import { base64, lock, postState, stateText } from './support/states.ts'
import { body, uniqueName } from './support/world.ts'

const FAR = '2999-01-01T00:00:00.000Z'

test.each(engines)(
  'what a killed server on %s was working on: with SQLite the next start takes it up',
  async (engine) => {
    const settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN, PURSER_LOG: 'error' }
    const start = async () => {
      const purser = new Purser(['serve'], settings)
      return { purser, client: new Client(await purser.address(), ADMIN_TOKEN) }
    }
    let { purser, client } = await start()
    const name = uniqueName('organization')
    await client.post('/organizations', body('organizations', { name, email: 'o@example.com' }))
    const made = await client.post(
      `/organizations/${name}/workspaces`,
      body('workspaces', { name: uniqueName('workspace') }),
    )
    const workspaceId = made.json.data.id as string
    await lock(client, workspaceId)
    const state = stateText('{"a":{"value":1,"type":"number"}}')
    const stored = await postState(client, workspaceId, state, { state: base64(state) })
    expect(stored.status).toBe(201)
    purser.child.kill('SIGKILL')
    await purser.ended

    const { PURSER_DATA: data, PURSER_DATABASE_URL: databaseUrl } = settings as Record<string, string>
    const config = readConfig(
      databaseUrl === undefined ? { data } : { data, databaseUrl, secretKey: '0'.repeat(64) },
      {},
    )
    const { database } = await openDatabase(config)
    await database.write((tx) =>
      tx.db
        .updateTable('state_versions')
        .set({ resources_processed: 0, lease_until: FAR, attempts: 1 })
        .where('id', '=', stored.json.data.id)
        .execute(),
    )
    await database.close()

    ;({ purser, client } = await start())
    const read = async () =>
      (await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)).status
    // On PostgreSQL a new node cannot know whether other nodes are alive, so it waits until the lease expires.
    const expected = engine === 'sqlite' ? 200 : 503
    let status = await read()
    for (let tries = 0; tries < 100 && status !== 200; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 30))
      status = await read()
    }
    expect(status).toBe(expected)
    expect(await purser.stop()).toBe(0)
  },
  60_000,
)
