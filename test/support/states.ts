import { createHash } from 'node:crypto'
import { body, createWorkspace, made, type TestOrganization } from './world.ts'
import type { Client, Response } from './client.ts'

/** A state file of format 4. The outputs are raw JSON text, so that tests can use any text. */
export function stateText(outputs: string, serial = 1, lineage = 'lineage-of-the-tests'): string {
  return `{"version": 4, "terraform_version": "1.10.10", "serial": ${serial}, "lineage": "${lineage}", "outputs": ${outputs}, "resources": [], "check_results": null}`
}

export function md5Of(content: string | Uint8Array): string {
  return createHash('md5').update(content).digest('hex')
}

export async function lock(client: Client, workspaceId: string): Promise<void> {
  made(await client.post(`/workspaces/${workspaceId}/actions/lock`, { reason: 'tests' }), 200)
}

/** POST of a state version. `more` adds or replaces attributes. */
export function postState(
  client: Client,
  workspaceId: string,
  state: string,
  more: object = {},
): Promise<Response> {
  const { serial, lineage } = JSON.parse(state) as { serial: number; lineage: string }
  const attributes = { serial, lineage, md5: md5Of(state), force: false, ...more }
  return client.post(`/workspaces/${workspaceId}/state-versions`, body('state-versions', attributes))
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** The answer to a GET as soon as the outputs that it is about are processed. */
export async function processed(client: Client, path: string): Promise<Response> {
  for (;;) {
    const answer = await client.get(path)
    if (answer.status !== 503) return answer
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A workspace whose current state has these outputs. Returns the ids of both. */
export async function createState(
  organization: TestOrganization,
  outputs: string,
  workspaceId?: string,
): Promise<{ workspaceId: string; stateVersionId: string }> {
  const { client } = organization.owner
  const id = workspaceId ?? (await createWorkspace(organization))
  await lock(client, id)
  const state = stateText(outputs)
  const version = made(await postState(client, id, state, { state: base64(state) }), 201)
  await client.post(`/workspaces/${id}/actions/unlock`)
  return { workspaceId: id, stateVersionId: version.json.data.id }
}
