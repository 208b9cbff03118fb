import { request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { isSteady, untilNextStep } from '../src/http/steady.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  body,
  createTestOrganization,
  createUser,
  type Person,
  type TestOrganization,
} from './support/world.ts'

/** The shortest time of a refusal in milliseconds. A slow machine only takes longer. */
const STEP_MS = 9.5

onEachEngine('the time of a refusal', (server) => {
  let organization: TestOrganization
  let outsider: Person
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    outsider = await createUser(server)
  })

  const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    const start = performance.now()
    return [await work(), performance.now() - start]
  }

  test.each(['there', 'not-there'])('404 waits for the step: %s', async (which) => {
    const name = which === 'there' ? organization.name : which
    for (let probe = 0; probe < 20; probe += 1) {
      const [answer, took] = await timed(() => outsider.client.get(`/organizations/${name}`))
      expect(answer.status).toBe(404)
      expect(took).toBeGreaterThan(STEP_MS)
    }
  })

  test('422 waits for the step', async () => {
    const [answer, took] = await timed(() =>
      organization.owner.client.post(`/organizations/${organization.name}/teams`, body('teams', {})),
    )
    expect(answer.status).toBe(422)
    expect(took).toBeGreaterThan(STEP_MS)
  })

  test.each(['somebody', 'nobody'])('an invitation waits for the step: the email of %s', async (whose) => {
    const email = whose === 'somebody' ? outsider.email : 'nobody@example.com'
    const invitation = body('organization-memberships', { email })
    const [answer, took] = await timed(() =>
      organization.owner.client.post(
        `/organizations/${organization.name}/organization-memberships`,
        invitation,
      ),
    )
    expect(answer.status).toBe(201)
    expect(took).toBeGreaterThan(STEP_MS)
  })

  test('the step is counted from the last byte of a body', async () => {
    const bytes = JSON.stringify(body('teams', {}))
    const url = `${server.address}/api/v2/organizations/${organization.name}/teams`
    const took = await new Promise<number>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${organization.owner.client.token}`,
        'content-type': 'application/json',
        'content-length': bytes.length,
      }
      let sentAt = Number.NaN
      const request = httpRequest(url, { method: 'POST', headers }, (answer) => {
        answer.resume().once('end', () => {
          if (answer.statusCode === 422) resolve(performance.now() - sentAt)
          else reject(new Error(`status ${answer.statusCode}`))
        })
      })
      request.once('error', reject)
      request.write(bytes.slice(0, 3))
      void sleep(6).then(() => {
        sentAt = performance.now()
        request.end(bytes.slice(3))
      })
    })
    expect(took).toBeGreaterThan(STEP_MS)
  })
})

test('a refusal that took longer than a step waits for the next one', async () => {
  const start = performance.now()
  await untilNextStep(start - 1.5 * STEP_MS)
  expect(performance.now() - start).toBeGreaterThanOrEqual(STEP_MS / 2 - 0.001)
})

test('what is granted does not wait', () => {
  const statuses = [200, 201, 204, 304, 400, 401, 404, 409, 422]
  expect(statuses.filter((status) => isSteady({ status }))).toEqual([404, 422])
})
