import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { probeAttacks, startAttacked, type Attacked, type Attacks } from './support/attacks.ts'
import { Client } from './support/client.ts'
import { engines, type Engine } from './support/engines.ts'
import { isLong } from './support/runs.ts'
import { Sender, type SentRequest } from './support/sender.ts'
import { lock, postState, stateText } from './support/states.ts'
import { createWorkspace } from './support/world.ts'

const MIB = 1024 * 1024
const LARGE_STATES = 'states of many megabytes in the body'
const TIMEOUT_MS = isLong ? 3_600_000 : 300_000
/** Tens of megabytes in the long mode, otherwise a few. */
const BODY_BYTES = (isLong ? 31 : 4) * MIB
const HOLD_MS = isLong ? 20_000 : 500

/** A workspace that the attacker has locked, and one that nobody has. */
type World = Attacked & { locked: string; unlocked: string }

let senders: Sender[] = []
afterEach(() => {
  for (const sender of senders) sender.stop()
  senders = []
})

function begin(address: string, request: SentRequest): Sender {
  const sender = new Sender(address, request)
  senders.push(sender)
  return sender
}

/** Sends until there is an answer, or until this many bytes have been sent. */
async function fill(sender: Sender, part: Uint8Array, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes && sender.status === undefined; sent += part.length) {
    await Promise.race([sender.send(part), sender.answered()])
  }
}

const create = ({ token }: World, workspaceId: string, length?: number): SentRequest => ({
  method: 'POST',
  path: `/api/v2/workspaces/${workspaceId}/state-versions`,
  token,
  ...(length === undefined ? {} : { length }),
})

const part = Buffer.alloc(256 * 1024, ' ')

const attacks: Attacks<World> = {
  '60 bodies that do not end': async (world) => {
    const all = Array.from({ length: 60 }, (_, index) =>
      begin(world.address, create(world, world.locked, index % 2 === 0 ? BODY_BYTES : undefined)),
    )
    await Promise.all(all.map((sender) => fill(sender, part, BODY_BYTES - part.length)))
    await setTimeout(HOLD_MS)
  },
  '48 stalled creates on a workspace that is not locked': async (world) => {
    const all = Array.from({ length: 48 }, () =>
      begin(world.address, create(world, world.unlocked, BODY_BYTES)),
    )
    await Promise.all(all.map((sender) => fill(sender, part, BODY_BYTES - part.length)))
    for (const sender of all) expect(await sender.answered()).toBe(409)
    await setTimeout(HOLD_MS)
  },
  'bodies of nested and empty members that are ignored': async (world) => {
    for (const ignored of ['[],', '{},', '[[[[]]]],', '{"a":{"b":{}}},']) {
      const filling = Buffer.from(ignored.repeat(Math.floor(part.length / ignored.length)))
      const sender = begin(world.address, create(world, world.locked))
      await sender.send('{"data":{"x":[')
      await fill(sender, filling, BODY_BYTES - 2 * part.length)
      await sender.send('0],"type":"state-versions"}}')
      sender.end()
      expect(await sender.answered()).toBe(422)
    }
  },
  [LARGE_STATES]: async (world) => {
    const client = new Client(world.address, world.token)
    for (let serial = 1; serial <= (isLong ? 5 : 2); serial++) {
      const state = stateText(`{"a": {"value": "${'x'.repeat(BODY_BYTES / 2)}"}}`, serial)
      const made = await postState(client, world.locked, state, {
        state: Buffer.from(state).toString('base64'),
      })
      expect(made.status).toBe(201)
    }
  },
  '1 MiB bodies with as many values as may be': async (world) => {
    const path = `/api/v2/organizations/${world.attacker.name}/teams`
    const members = Array.from({ length: 24_900 }, (_, number) => `"m${number}":{}`).join()
    const body = Buffer.from(`{"data":{"type":"teams","attributes":{${members}}}}`)
    for (let sent = 0; sent < (isLong ? 100 : 5); sent++) {
      const sender = begin(world.address, { method: 'POST', path, token: world.token, length: body.length })
      await sender.send(body)
      expect(await sender.answered()).toBe(422)
    }
  },
  '272 uploads that trickle': async (world) => {
    const urls = await pendingUploads(world, 17)
    const all = urls.flatMap((path) =>
      Array.from({ length: 16 }, () => begin(world.address, { method: 'PUT', path, length: BODY_BYTES })),
    )
    for (let beat = 0; beat < HOLD_MS / 250; beat++) {
      const left = all.filter(({ socket }) => !socket.destroyed)
      await Promise.all(left.map((sender) => sender.send('{ ')))
      await setTimeout(250)
    }
  },
  '40 uploads of outputs that the thread must keep': async (world) => {
    const [path = ''] = await pendingUploads(world, 1)
    const others = await pendingUploads(world, 39)
    await Promise.all(
      [path, ...others].map(async (url) => {
        const sender = begin(world.address, { method: 'PUT', path: url })
        await sender.send('{"version":4,"outputs":{"a":{"value":"')
        await fill(sender, Buffer.alloc(256 * 1024, 'x'), BODY_BYTES)
      }),
    )
    await setTimeout(HOLD_MS)
  },
}

async function pendingUploads({ address, attacker, token }: World, count: number): Promise<string[]> {
  const client = new Client(address, token)
  const urls: string[] = []
  for (let made = 0; made < count; made++) {
    const workspaceId = await createWorkspace(attacker)
    await lock(client, workspaceId)
    const pending = await postState(client, workspaceId, stateText('{}'))
    urls.push(pending.json.data.attributes['hosted-state-upload-url'])
  }
  return urls
}

async function startWorld(engine: Engine): Promise<World> {
  const attacked = await startAttacked(engine)
  const { attacker } = attacked
  const locked = await createWorkspace(attacker)
  await lock(attacker.owner.client, locked)
  const unlocked = await createWorkspace(attacker)
  return { ...attacked, locked, unlocked }
}

describe.each(engines)('beside attacks with bodies on %s', (engine) => {
  test(
    'everybody else is served, and memory is bounded',
    async () => {
      const world = await startWorld(engine)
      const stop = () => {
        for (const sender of senders.splice(0)) sender.stop()
      }
      // A commit of fifteen megabytes takes a long time.
      const isTimed = (name: string) => isLong && name !== LARGE_STATES
      await probeAttacks(world, attacks, isTimed, stop)
    },
    TIMEOUT_MS,
  )
})
