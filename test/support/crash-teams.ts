import { expect } from 'vitest'
import type { Client } from './client.ts'
import { allOf, unlessCut } from './crash-requests.ts'
import { body, uniqueName } from './world.ts'

/** A state that a team may be in: acknowledged, or requested when the server was killed. */
type TeamState = { visibility: string; count: number } | 'gone'

/** Creates, changes and deletes teams until the server is gone. */
export class TeamWriter {
  readonly #organization: string
  readonly #teams = new Map<string, { name: string; possible: TeamState[] }>()
  /** The names of teams whose create request got no answer. */
  readonly #unanswered = new Set<string>()
  /** Teams written since the last check. */
  readonly #touched = new Set<string>()
  acknowledged = 0

  constructor(organization: string) {
    this.#organization = organization
  }

  async write(client: Client): Promise<void> {
    for (let turn = 0; ; turn++) {
      const name = uniqueName('team')
      this.#unanswered.add(name)
      const made = await unlessCut(
        client.post(`/organizations/${this.#organization}/teams`, body('teams', { name })),
      )
      if (made === undefined) return
      expect(made.status).toBe(200)
      this.acknowledged += 1
      this.#unanswered.delete(name)
      const team = { name, possible: [{ visibility: 'secret', count: turn }] as TeamState[] }
      this.#teams.set(made.json.data.id, team)
      this.#touched.add(made.json.data.id)
      if (!(await this.#change(client, made.json.data.id, team, turn))) return
    }
  }

  async #change(client: Client, id: string, team: { possible: TeamState[] }, turn: number): Promise<boolean> {
    const isDeleted = turn % 3 === 2
    const asked: TeamState = isDeleted ? 'gone' : { visibility: 'organization', count: turn }
    team.possible.push(asked)
    const answer = await unlessCut(
      isDeleted
        ? client.delete(`/teams/${id}`)
        : client.patch(`/teams/${id}`, body('teams', { visibility: 'organization' })),
    )
    if (answer === undefined) return false
    expect(answer.status).toBe(isDeleted ? 204 : 200)
    this.acknowledged += 1
    team.possible = [asked]
    return true
  }

  /** Nothing acknowledged may be lost, and nothing may be half done. */
  async check(client: Client): Promise<void> {
    const listed = await allOf(client, `/organizations/${this.#organization}/teams`)
    const byId = new Map(listed.map((team) => [team.id, team]))
    for (const [id, team] of this.#teams) {
      const now = byId.get(id)
      const fits = team.possible.find((state) =>
        state === 'gone' ? now === undefined : now?.attributes['visibility'] === state.visibility,
      )
      expect(fits, `team ${team.name} is ${JSON.stringify(now?.attributes)}`).toBeDefined()
      if (now !== undefined) expect(now.attributes['name']).toBe(team.name)
      if (this.#touched.has(id)) {
        const shown = await client.get(`/teams/${id}`)
        expect(shown.status).toBe(now === undefined ? 404 : 200)
      }
      if (fits === 'gone' || now === undefined) this.#teams.delete(id)
      else team.possible = [fits as TeamState]
    }
    this.#touched.clear()
    // A create request without an answer may have succeeded. No other teams may exist.
    const names = new Set([...this.#teams.values()].map(({ name }) => name))
    for (const { id, attributes } of listed) {
      const name = attributes['name'] as string
      if (name === 'owners' || names.has(name)) continue
      expect(this.#unanswered.has(name), `a team ${name} that nobody asked for`).toBe(true)
      this.#unanswered.delete(name)
      this.#teams.set(id, { name, possible: [{ visibility: attributes['visibility'] as string, count: 0 }] })
    }
  }
}
