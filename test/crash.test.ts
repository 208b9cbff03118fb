import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { Client } from './support/client.ts'
import { StateWriter } from './support/crash-states.ts'
import { TeamWriter } from './support/crash-teams.ts'
import { engines } from './support/engines.ts'
import { ADMIN_TOKEN, Purser, run, settingsFor } from './support/purser.ts'
import { isLong } from './support/runs.ts'
import { body, uniqueName } from './support/world.ts'

const CYCLES = Number(process.env.PURSER_CRASH_CYCLES ?? (isLong ? 200 : 8))
const MOST_MS_BEFORE_KILL = 150
/** Each output is a kibibyte, so the larger states are processed in the background. */
const INLINE_BYTES = 20_000
const OUTPUTS = [5, 60, 300] as const

test.each(engines)(
  `kill -9 under writes and uploads on %s, ${CYCLES} times: nothing acknowledged is lost, nothing is half there`,
  async (engine) => {
    const settings = {
      ...(await settingsFor(engine)),
      PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
      PURSER_INLINE_STATE_BYTES: String(INLINE_BYTES),
      PURSER_STATE_VERSIONS_KEPT: '1000000',
      PURSER_LOG: 'error',
    }
    const start = async () => {
      const purser = new Purser(['serve'], settings)
      return { purser, client: new Client(await purser.address(), ADMIN_TOKEN) }
    }

    let { purser, client } = await start()
    const createOrganization = async () => {
      const name = uniqueName('organization')
      const made = await client.post(
        '/organizations',
        body('organizations', { name, email: 'o@example.com' }),
      )
      expect(made.status).toBe(201)
      return name
    }
    // One organization per writer, because a writer only knows its own writes.
    const teams = [new TeamWriter(await createOrganization()), new TeamWriter(await createOrganization())]
    const organization = await createOrganization()
    const states: StateWriter[] = []
    for (const outputs of OUTPUTS) {
      const workspace = uniqueName('workspace')
      const made = await client.post(
        `/organizations/${organization}/workspaces`,
        body('workspaces', { name: workspace }),
      )
      const workspaceId = made.json.data.id as string
      expect((await client.post(`/workspaces/${workspaceId}/actions/lock`)).status).toBe(200)
      states.push(new StateWriter({ organization, workspace, workspaceId }, outputs))
    }

    const writers = [...teams, ...states]
    // A busy machine acknowledges few writes per cycle, so it needs more cycles.
    const isEnough = () => writers.every(({ acknowledged }) => acknowledged > CYCLES / 2)
    for (let cycle = 0; cycle < CYCLES || (!isEnough() && cycle < 4 * CYCLES); cycle++) {
      const work = Promise.all(writers.map((writer) => writer.write(client)))
      await new Promise((resolve) => setTimeout(resolve, randomInt(20, MOST_MS_BEFORE_KILL)))
      purser.child.kill('SIGKILL')
      expect(await purser.ended).toBe('SIGKILL')
      await work
      ;({ purser, client } = await start())
      await Promise.all(writers.map((writer) => writer.check(client)))
    }
    expect(isEnough()).toBe(true)
    expect(await purser.stop()).toBe(0)
    expect(purser.stderr).toBe('')
    expect(await run(['audit', 'verify'], settings)).toMatchObject({ code: 0, stderr: '' })
  },
  isLong ? 4 * 3_600_000 : 300_000,
)
