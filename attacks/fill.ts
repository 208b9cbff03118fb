// Somebody with an account and no rights fills the server: with organizations, and with states.
import { randomBytes } from 'node:crypto'
import { startNode } from '../test/support/server.ts'
import { base64, lock, postState, stateText } from '../test/support/states.ts'
import {
  body,
  createTestOrganization,
  createUser,
  createWorkspace,
  uniqueName,
} from '../test/support/world.ts'
import type { Attack } from './stage.ts'

const MIB = 1024 * 1024

/** Does it until it is refused. Returns how often it was accepted. */
async function untilRefused(most: number, act: (count: number) => Promise<number>): Promise<string> {
  for (let count = 1; count <= most; count++) {
    const status = await act(count)
    if (status >= 300) return `${count - 1}, then ${status}`
  }
  return String(most)
}

export const attack: Attack = async (server, show) => {
  const attacker = await createUser(server)
  const found = () =>
    attacker.client
      .post('/organizations', body('organizations', { name: uniqueName('junk'), email: 'a@example.com' }))
      .then(({ status }) => status)
  show('organizations of one user', '660 in 5 s', await untilRefused(200, found))
  const closed = await startNode(server, { organizationCreators: 'administrators' })
  const another = await createUser(server)
  const refused = await closed
    .client(another.client.token)
    .post('/organizations', body('organizations', { name: uniqueName('junk'), email: 'a@example.com' }))
  show('an organization, where only administrators create them', 201, refused.status)
  await closed.stop()

  // A small limit, so that the attack ends soon.
  const limited = await startNode(server, { maxOrganizationBytes: String(20 * MIB) })
  const organization = await createTestOrganization(limited)
  const { client } = organization.owner
  const workspaceId = await createWorkspace(organization)
  await lock(client, workspaceId)
  const pushes = await untilRefused(60, async (serial) => {
    const junk = randomBytes(MIB / 2).toString('hex')
    const state = stateText(`{"junk":{"value":"${junk}","type":"string"}}`, serial)
    return (await postState(client, workspaceId, state, { state: base64(state) })).status
  })
  const { data } = (await server.admin.get(`/admin/organizations?q=${organization.name}`)).json
  const mib = Math.round(data[0].attributes['state-bytes'] / MIB)
  show(
    'pushes with a limit of 20 MiB for an organization',
    '86 MB in 8 s',
    `${pushes}; ${mib} MiB are stored`,
  )
  await limited.stop()

  const slow = await startNode(server, { maxWritesPerMinute: '100' })
  const writer = await createUser(slow)
  const own = { name: uniqueName('own'), email: 'a@example.com' }
  await writer.client.post('/organizations', body('organizations', own))
  const write = () =>
    writer.client
      .patch(`/organizations/${own.name}`, body('organizations', { email: 'b@example.com' }))
      .then(({ status }) => status)
  show('writes at once, with a limit of 100 a minute', 'all', await untilRefused(200, write))
  await slow.stop()

  const real = await createTestOrganization(server)
  const copy = { name: real.name.toUpperCase(), email: 'a@example.com' }
  const twin = await another.client.post('/organizations', body('organizations', copy))
  show('an organization whose name differs only by case', 201, twin.status)
}
