import { newId } from '../../src/core/ids.ts'
import { createUserToken } from '../../src/authentication-tokens/tokens.ts'
import { insertUser } from '../../src/users/user-store.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { bumpVersion } from '../../src/organizations/organization-store.ts'
import { insertMembership } from '../../src/organization-memberships/membership-store.ts'
import type { Client } from './client.ts'
import type { TestServer } from './server.ts'

let count = 0
/** A name that no other test uses. */
export function uniqueName(prefix: string): string {
  count += 1
  return `${prefix}-${process.pid}-${count}`
}

export type Person = { id: string; username: string; client: Client }

export async function createUser(server: TestServer, prefix = 'user'): Promise<Person> {
  const username = uniqueName(prefix)
  const id = newId('user')
  const now = server.clock.now()
  const token = await server.app.deps.database.write(async (tx) => {
    const email = `${username}@example.com`
    await insertUser(tx, {
      id,
      username,
      username_key: username,
      email,
      email_key: email,
      password_hash: null,
      created_at: now.toISOString(),
    })
    return createUserToken(tx, newId, { userId: id, description: null, createdById: id, now })
  })
  return { id, username, client: server.client(token.text) }
}

export type TestOrganization = { id: string; name: string; owner: Person }

/** An organization of its own for each test, with an owner. */
export async function createTestOrganization(server: TestServer): Promise<TestOrganization> {
  const owner = await createUser(server, 'owner')
  const name = uniqueName('organization')
  const at = server.clock.now().toISOString()
  const made = await server.app.deps.database.write((tx) =>
    createOrganization(tx, newId, { name, email: 'o@example.com', settings: {}, ownerId: owner.id, at }),
  )
  return { id: made?.id as string, name, owner }
}

export async function addMember(server: TestServer, organization: TestOrganization): Promise<Person> {
  const person = await createUser(server, 'member')
  await server.app.deps.database.write(async (tx) => {
    await insertMembership(tx, {
      id: newId('membership'),
      organization_id: organization.id,
      user_id: person.id,
      status: 'active',
      created_at: server.clock.now().toISOString(),
    })
    await bumpVersion(tx, organization.id)
  })
  return person
}
