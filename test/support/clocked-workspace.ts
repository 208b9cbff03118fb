import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { Client, Response } from './client.ts'
import { base64, lock, md5Of, stateText } from './states.ts'
import { body, made } from './world.ts'

/** The number of state versions that the servers of these tests keep. */
export const KEPT = 6
const MAX_SOFTLY_DELETED = 3
const LARGE_BYTES = 600_000

type Version = { id: string; text: string }
export type Random = () => number

/** A workspace and its expected content: everything that was acknowledged, in order. */
export class ClockedWorkspace {
  readonly #organization: string
  readonly #name: string
  readonly #id: string
  /** Finalized versions. The current one is last. */
  #versions: Version[] = []
  readonly #softlyDeleted: Version[] = []
  #serial = 0
  acknowledged = 0
  refused = 0

  constructor(organization: string, name: string, id: string) {
    this.#organization = organization
    this.#name = name
    this.#id = id
  }

  /** Does something random to the workspace, each time with one of the clients. */
  async step(random: Random, any: () => Client): Promise<void> {
    const acts = [
      () => this.#write(any()),
      () => this.#upload(any(), any()),
      () => this.#snapshots(any(), any()),
      () => this.#rollBack(any(), random),
      () => this.#deleteSoftly(any()),
      () => this.check(any()),
    ]
    await (acts[Math.floor(random() * acts.length)] as () => Promise<void>)()
  }

  async check(client: Client): Promise<void> {
    const filter = `filter[organization][name]=${this.#organization}&filter[workspace][name]=${this.#name}`
    const list = made(
      await client.get(`/state-versions?${filter}&filter[status]=finalized&page[size]=100`),
      200,
    )
    const ids = list.json.data.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(this.#versions.map(({ id }) => id).toReversed())
    const current = this.#versions.at(-1)
    if (current === undefined) return
    const shown = made(await client.get(`/workspaces/${this.#id}/current-state-version`), 200)
    expect(shown.json.data.id).toBe(current.id)
    for (const version of this.#versions) {
      const { text } = made(await client.get(`/state-versions/${version.id}/download`), 200)
      expect([version.id, md5Of(text)]).toEqual([version.id, md5Of(version.text)])
    }
    for (const { id } of this.#softlyDeleted) {
      const { json } = made(await client.get(`/state-versions/${id}`), 200)
      expect([id, json.data.attributes.status]).toEqual([id, 'backing_data_soft_deleted'])
    }
  }

  #nextState(bytes = 0): string {
    this.#serial += 1
    const filler = randomBytes(bytes / 2).toString('hex')
    const outputs = `{"a":{"value":${this.#serial},"type":"number"}}`
    return stateText(outputs, this.#serial).replace('"check_results"', `"filler":"${filler}","check_results"`)
  }

  #made(id: string, text: string): void {
    this.#versions = [...this.#versions, { id, text }].slice(-KEPT)
    this.acknowledged += 1
  }

  async #create(client: Client, text: string, more: object = {}): Promise<Response> {
    const attributes = { serial: this.#serial, lineage: 'lineage-of-the-tests', md5: md5Of(text), ...more }
    const path = `/workspaces/${this.#id}/state-versions`
    return made(await client.post(path, body('state-versions', attributes)), 201)
  }

  async #write(client: Client, more: object = {}): Promise<void> {
    const text = this.#nextState()
    const version = await this.#create(client, text, { state: base64(text), ...more })
    this.#made(version.json.data.id, text)
  }

  async #upload(client: Client, other: Client): Promise<void> {
    const text = this.#nextState(LARGE_BYTES)
    const { data } = (await this.#create(client, text)).json
    // The URL has the address of the node that answered. Send it to the other node.
    const url = data.attributes['hosted-state-upload-url'].replace(client.address, other.address)
    made(await other.request('PUT', url, text), 200)
    this.#made(data.id, text)
  }

  /** The newest snapshot becomes current. */
  async #snapshots(client: Client, other: Client): Promise<void> {
    await this.#write(client, { intermediate: true })
    await this.#write(other, { intermediate: true })
    made(await client.post(`/workspaces/${this.#id}/actions/unlock`), 200)
    await lock(other, this.#id)
  }

  async #rollBack(client: Client, random: Random): Promise<void> {
    const source = this.#versions[Math.floor(random() * this.#versions.length)]
    if (source === undefined) return
    const relationships = { 'rollback-state-version': { data: { type: 'state-versions', id: source.id } } }
    const path = `/workspaces/${this.#id}/state-versions`
    const back = await client.patch(path, body('state-versions', {}, relationships))
    if (back.status === 409) {
      // The node's clock jumped ahead, so it lost its lease.
      this.refused += 1
      return
    }
    const { id, attributes } = made(back, 201).json.data
    this.#serial += 1
    expect(attributes.serial).toBe(this.#serial)
    this.#made(id, source.text.replace(/"serial": \d+/, `"serial": ${this.#serial}`))
  }

  async #deleteSoftly(client: Client): Promise<void> {
    if (this.#versions.length < 3 || this.#softlyDeleted.length >= MAX_SOFTLY_DELETED) return
    const oldest = this.#versions.shift() as Version
    made(await client.post(`/state-versions/${oldest.id}/actions/soft_delete_backing_data`), 200)
    this.#softlyDeleted.push(oldest)
  }
}
