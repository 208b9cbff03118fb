import { expect, test, vi } from 'vitest'
import { hashToken } from '../src/access/actor-store.ts'
import { AcceptedCreates } from '../src/http/accepted-creates.ts'
import { KnownAccounts } from '../src/http/known-accounts.ts'
import { ReadPlans } from '../src/database/read-plans.ts'
import { Browser, passwordLink } from './support/browser.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { body, createTestOrganization, uniqueName } from './support/world.ts'

onEachEngine('what a server remembers of its callers', (server) => {
  test('has hashes of their tokens and sessions only', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const remembering = [
      vi.spyOn(KnownAccounts.prototype, 'add'),
      vi.spyOn(KnownAccounts.prototype, 'of'),
      vi.spyOn(ReadPlans.prototype, 'keep'),
      vi.spyOn(AcceptedCreates.prototype, 'keep'),
      vi.spyOn(AcceptedCreates.prototype, 'find'),
    ]
    const browser = new Browser(server.address)
    const link = await passwordLink(server.admin, owner.id)
    await browser.signIn({ link, password: 'correct horse battery' })
    const teams = `/organizations/${organization.name}/teams`
    for (let count = 0; count < 3; count += 1) {
      for (const { client } of [owner, { client: browser }]) {
        expect((await client.get(teams)).status).toBe(200)
        const sent = body('teams', { name: uniqueName('team') })
        expect((await client.request('POST', teams, sent)).status).toBe(200)
      }
    }
    const given = JSON.stringify(remembering.flatMap((spy) => spy.mock.calls.map(([first]) => first)))
    for (const spy of remembering) spy.mockRestore()
    const session = browser.cookie?.split('=')[1] ?? 'none'
    for (const secret of [owner.client.token ?? 'none', session]) {
      expect(given).toContain(hashToken(secret))
      expect(given).not.toContain(secret)
    }
  })
})
