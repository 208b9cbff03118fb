import { expect, test } from 'vitest'
import { NOT_FOUND, type Json } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createState } from './support/states.ts'
import { addMember, body, createTeam, createTestOrganization } from './support/world.ts'

onEachEngine('an auditor', (server) => {
  test('reads the audit trail and the refusals of the organization, and nothing else of it', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const { workspaceId } = await createState(organization, '{"a":{"value":1,"type":"number"}}')
    const team = await createTeam(organization, { 'organization-access': { 'read-audit': true } })
    const auditor = await addMember(server, organization, [team])
    const outsider = await createTestOrganization(server)
    await outsider.owner.client.get(`/workspaces/${workspaceId}`)
    const readable = ['audit-events', 'refusals'].map((list) => `/organizations/${name}/${list}`)
    // A refusal is written a moment after its answer.
    await expect
      .poll(async () => (await owner.client.get(`/organizations/${name}/refusals`)).json.data.length)
      .toBe(1)
    for (const path of readable) {
      const [seen, whole] = [await auditor.client.get(path), await owner.client.get(path)]
      expect(seen.status).toBe(200)
      // granted-by has the names of places, which an auditor does not see: refusals.test.ts.
      const rest = ({ attributes, ...one }: Json) => ({
        ...one,
        attributes: { ...attributes, 'granted-by': [] },
      })
      expect(seen.json.data.map(rest)).toEqual(whole.json.data.map(rest))
      expect((await auditor.client.get(path.replace(name, outsider.name))).text).toBe(NOT_FOUND)
    }
    for (const path of [
      '/admin/refusals',
      `/workspaces/${workspaceId}`,
      `/organizations/${name}/workspaces`,
      `/organizations/${name}/organization-memberships`,
    ]) {
      expect((await auditor.client.get(path)).text, path).toBe(NOT_FOUND)
    }
    const permissionsOf = async (who: { client: typeof owner.client }) =>
      (await who.client.get(`/organizations/${name}`)).json.data.attributes.permissions
    expect(await permissionsOf(auditor)).toMatchObject({
      'can-read-audit-events': true,
      'can-read-refusals': true,
      'can-read-effective-access': false,
      'can-manage-auditing': false,
    })
    await owner.client.patch(
      `/teams/${team}`,
      body('teams', { 'organization-access': { 'read-audit': false } }),
    )
    for (const path of readable) expect((await auditor.client.get(path)).text).toBe(NOT_FOUND)
  })

  test('a delegate who is no auditor makes nobody an auditor', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    await owner.client.patch(
      `/organizations/${name}`,
      body('organizations', { 'delegated-team-management': true }),
    )
    const delegates = await createTeam(organization, {
      'organization-access': { 'manage-organization-access': true },
    })
    const delegate = await addMember(server, organization, [delegates])
    const team = await createTeam(organization, { visibility: 'organization' })
    const asked = body('teams', { 'organization-access': { 'read-audit': true } })
    expect((await delegate.client.patch(`/teams/${team}`, asked)).text).toBe(NOT_FOUND)
    await owner.client.patch(
      `/teams/${delegates}`,
      body('teams', { 'organization-access': { 'read-audit': true } }),
    )
    expect((await delegate.client.patch(`/teams/${team}`, asked)).status).toBe(200)
  })

  test('a refused reader is told that read-audit would have been enough', async () => {
    const organization = await createTestOrganization(server)
    const member = await addMember(server, organization, [await createTeam(organization)])
    const refused = await member.client.get(`/organizations/${organization.name}/audit-events`)
    const id = refused.headers.get('x-request-id')
    await expect
      .poll(async () => {
        const path = `/organizations/${organization.name}/refusals?filter[request-id]=${id}`
        const { json } = await organization.owner.client.get(path)
        return json.data[0]?.attributes['granted-by']
      })
      .toMatchObject([
        { grant: 'organization-access', flag: 'read-audit', 'or-more': false },
        { grant: 'owner' },
      ])
  })

  test('the events that revealed one output are found by its name', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const names = ['password', 'pass', ',', 'a","b', 'pin\u0000', 'x'.repeat(300), 'é.*']
    const { stateVersionId } = await createState(
      organization,
      JSON.stringify(
        Object.fromEntries(names.map((name) => [name, { value: 's', type: 'string', sensitive: true }])),
      ),
    )
    const outputs = await client.get(`/state-versions/${stateVersionId}/outputs?page[size]=3`)
    const revealed: string[] = outputs.json.data.map(
      (output: { attributes: { name: string } }) => output.attributes.name,
    )
    expect(revealed.length).toBe(3)
    const found = async (name: string) => {
      const query = `filter[output]=${encodeURIComponent(name)}`
      const { json } = await client.get(`/organizations/${organization.name}/audit-events?${query}`)
      expect(json.meta.pagination['total-count']).toBe(json.data.length)
      return json.data.length
    }
    for (const name of names.filter((one) => !one.includes('\0'))) {
      expect([name, await found(name)]).toEqual([name, revealed.includes(name) ? 1 : 0])
    }
    await client.get(`/state-versions/${stateVersionId}/outputs`)
    for (const name of names.filter((one) => !one.includes('\0'))) {
      expect([name, await found(name)]).toEqual([name, revealed.includes(name) ? 2 : 1])
    }
    expect(await found('other')).toBe(0)
  })
})
