import { createHash } from 'node:crypto'
import type { Client } from './client.ts'
import { made } from './world.ts'

/** The request attributes of a small state with a sensitive and a plain output. */
export function stateAttributes(serial: number): {
  serial: number
  md5: string
  lineage: string
  state: string
} {
  const lineage = 'a-lineage'
  const outputs = {
    region: { value: 'north', type: 'string' },
    password: { value: 'a secret', type: 'string', sensitive: true },
  }
  const text = JSON.stringify({ version: 4, serial, lineage, outputs, resources: [] })
  return {
    serial,
    lineage,
    md5: createHash('md5').update(text).digest('hex'),
    state: Buffer.from(text).toString('base64'),
  }
}

export type States = {
  finalized: string
  /** An older version, and one whose content is soft-deleted. */
  older: string
  deleted: string
  outputs: string[]
  /** A version that waits for its upload, and the signature in its upload URL. */
  pending: string
  signature: string
}

/** Stores states in the workspace and starts another. The workspace stays locked by the caller. */
export async function createStates(client: Client, workspaceId: string): Promise<States> {
  await expectStatus(client.post(`/workspaces/${workspaceId}/actions/lock`, {}), 200)
  const post = (attributes: object) =>
    expectStatus(
      client.post(`/workspaces/${workspaceId}/state-versions`, {
        data: { type: 'state-versions', attributes },
      }),
      201,
    )
  const deleted = await post(stateAttributes(1))
  const older = await post(stateAttributes(2))
  const finalized = await post(stateAttributes(3))
  await expectStatus(client.post(`/state-versions/${deleted.id}/actions/soft_delete_backing_data`), 200)
  const { state: _, ...announced } = stateAttributes(4)
  const pending = await post(announced)
  const listed = await expectStatus(client.get(`/state-versions/${finalized.id}/outputs`), 200)
  return {
    finalized: finalized.id,
    older: older.id,
    deleted: deleted.id,
    outputs: (listed as unknown as { id: string }[]).map(({ id }) => id),
    pending: pending.id,
    signature: new URL(pending.attributes['hosted-state-upload-url'] as string).pathname.split(
      '/',
    )[2] as string,
  }
}

type Made = { id: string; attributes: Record<string, unknown> }

async function expectStatus(answer: ReturnType<Client['get']>, status: number): Promise<Made> {
  return made(await answer, status).json.data as Made
}
