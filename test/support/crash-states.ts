import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { Client } from './client.ts'
import { allOf, unlessCut, type Listed } from './crash-requests.ts'
import { body } from './world.ts'

type StatePlace = { organization: string; workspace: string; workspaceId: string }
type Outputs = Record<string, { value: string }>

/** Uploads one state after another to a workspace until the server is gone. */
export class StateWriter {
  readonly #place: StatePlace
  readonly #outputs: number
  #serial = 1
  /** Serials of the uploads that were acknowledged since the last check. */
  #acknowledged: number[] = []
  acknowledged = 0

  /** @param outputs the number of outputs per state; each is a kibibyte */
  constructor(place: StatePlace, outputs: number) {
    this.#place = place
    this.#outputs = outputs
  }

  #text(serial: number): string {
    const outputs = Object.fromEntries(
      Array.from({ length: this.#outputs }, (_, place) => [
        `output-${String(place).padStart(5, '0')}`,
        { value: `${serial}-${place}-`.padEnd(1_000, 'x'), type: 'string', sensitive: place % 2 === 0 },
      ]),
    )
    return JSON.stringify({ version: 4, serial, lineage: 'of-the-crash', outputs, resources: [] })
  }

  async write(client: Client): Promise<void> {
    while (await this.#upload(client)) this.#serial += 1
  }

  /** Uploads the next state. Returns false if the server went away. May be repeated as often as needed. */
  async #upload(client: Client): Promise<boolean> {
    const serial = this.#serial
    const text = this.#text(serial)
    const md5 = createHash('md5').update(text).digest('hex')
    const attributes = { serial, md5, lineage: 'of-the-crash' }
    const path = `/workspaces/${this.#place.workspaceId}/state-versions`
    const made = await unlessCut(client.post(path, body('state-versions', attributes)))
    if (made === undefined) return false
    expect(made.status, made.text).toBe(201)
    const url = made.json.data.attributes['hosted-state-upload-url'] as string | null
    // No URL: the state was stored before the kill, but the answer was lost.
    if (url !== null) {
      const { pathname } = new URL(url)
      const sent = await unlessCut(client.request('PUT', client.address + pathname, text))
      if (sent === undefined) return false
      expect(sent.status, sent.text).toBe(200)
    }
    this.acknowledged += 1
    this.#acknowledged.push(serial)
    return true
  }

  /** Every acknowledged state must exist, byte for byte, and must be processed once. So must the interrupted one. */
  async check(client: Client): Promise<void> {
    expect(await this.#upload(client)).toBe(true)
    this.#serial += 1
    const { organization, workspace } = this.#place
    const filter = `filter%5Borganization%5D%5Bname%5D=${organization}&filter%5Bworkspace%5D%5Bname%5D=${workspace}&`
    const versions = await allOf(client, '/state-versions', filter)
    expect(versions.map(({ attributes }) => attributes['serial'])).toEqual(
      Array.from({ length: this.#serial - 1 }, (_, place) => this.#serial - 1 - place),
    )
    expect(new Set(versions.map(({ attributes }) => attributes['status']))).toEqual(new Set(['finalized']))
    for (const serial of this.#acknowledged) {
      const version = versions.find(({ attributes }) => attributes['serial'] === serial) as Listed
      expect((await client.get(`/state-versions/${version.id}/download`)).text).toBe(this.#text(serial))
      const isProcessed = async () =>
        (await client.get(`/state-versions/${version.id}`)).json.data.attributes[
          'resources-processed'
        ] as boolean
      await expect.poll(isProcessed, { timeout: 60_000, interval: 20 }).toBe(true)
      const outputs = await allOf(client, `/state-versions/${version.id}/outputs`)
      const expected = Object.entries((JSON.parse(this.#text(serial)) as { outputs: Outputs }).outputs)
      expect(outputs.map(({ attributes }) => [attributes['name'], attributes['value']])).toEqual(
        expected.map(([name, { value }]) => [name, value]),
      )
    }
    this.#acknowledged = []
  }
}
