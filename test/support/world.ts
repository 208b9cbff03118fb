import type { Client, Response } from './client.ts'
import type { TestServer } from './server.ts'

/** A server to create a world on: in this process or in another one. */
type Served = Pick<TestServer, 'admin' | 'client'>

let count = 0
/** A name that no other test uses. */
export function uniqueName(prefix: string): string {
  count += 1
  return `${prefix}-${process.pid}-${count}`
}

export type Person = { id: string; username: string; email: string; client: Client }

/** Throws if a part of a world could not be created, because the test would be meaningless without it. */
export function made(response: Response, status: number): Response {
  if (response.status !== status)
    throw new Error(`expected ${status}, got ${response.status} ${response.text.slice(0, 1_000)}`)
  return response
}

/** `{"data": {"type", "attributes", "relationships"?}}` */
export function body(type: string, attributes: object, relationships?: object): object {
  return { data: { type, attributes, ...(relationships === undefined ? {} : { relationships }) } }
}

/** A user with an account and a token, in no organization. */
export async function createUser(server: Served, prefix = 'user'): Promise<Person> {
  const username = uniqueName(prefix)
  const email = `${username}@example.com`
  const user = made(await server.admin.post('/admin/users', body('users', { username, email })), 201)
  const { id } = user.json.data
  const token = made(await server.admin.post(`/users/${id}/authentication-tokens`), 201)
  return { id, username, email, client: server.client(token.json.data.attributes.token) }
}

export type TestOrganization = { id: string; name: string; owner: Person }

/** A new organization with an owner. */
export async function createTestOrganization(
  server: Served,
  attributes: object = {},
): Promise<TestOrganization> {
  const owner = await createUser(server, 'owner')
  const name = uniqueName('organization')
  const organization = made(
    await owner.client.post(
      '/organizations',
      body('organizations', { name, email: 'o@example.com', ...attributes }),
    ),
    201,
  )
  return { id: organization.json.data.attributes['external-id'], name, owner }
}

/** Creates a pending invitation. Returns the membership's id. */
export async function invitePerson(
  organization: TestOrganization,
  person: Pick<Person, 'email'>,
  teamIds: readonly string[] = [],
): Promise<string> {
  const teams = { data: teamIds.map((id) => ({ type: 'teams', id })) }
  const response = await organization.owner.client.post(
    `/organizations/${organization.name}/organization-memberships`,
    body('organization-memberships', { email: person.email }, { teams }),
  )
  return made(response, 201).json.data.id
}

export type Member = Person & { membershipId: string }

/** Creates a user who has accepted an invitation, to these teams, too. */
export async function addMember(
  server: TestServer,
  organization: TestOrganization,
  teamIds: readonly string[] = [],
): Promise<Member> {
  const person = await createUser(server, 'member')
  const membershipId = await invitePerson(organization, person, teamIds)
  made(await person.client.post(`/organization-memberships/${membershipId}/actions/accept`), 200)
  return { ...person, membershipId }
}

/** Creates a team of the organization. Returns its id. */
export async function createTeam(
  organization: TestOrganization,
  attributes: { name?: string } & Record<string, unknown> = {},
): Promise<string> {
  const response = await organization.owner.client.post(
    `/organizations/${organization.name}/teams`,
    body('teams', { name: uniqueName('team'), ...attributes }),
  )
  return made(response, 200).json.data.id
}

/** Creates a workspace of the organization. Returns its id. */
export async function createWorkspace(
  organization: TestOrganization,
  attributes: { name?: string } & Record<string, unknown> = {},
  relationships?: object,
): Promise<string> {
  const response = await organization.owner.client.post(
    `/organizations/${organization.name}/workspaces`,
    body('workspaces', { name: uniqueName('workspace'), ...attributes }, relationships),
  )
  return made(response, 201).json.data.id
}

/** The body that grants a team access to a workspace or a project. */
export const grantBody = (
  teamId: string | undefined,
  kind: 'workspace' | 'project',
  id: string | undefined,
  attributes: object = { access: 'read' },
) =>
  body(`team-${kind}s`, attributes, {
    team: { data: { type: 'teams', id: teamId } },
    [kind]: { data: { type: `${kind}s`, id } },
  })

/** Gives a team access to a workspace. Returns the grant's id. */
export async function grantWorkspace(
  organization: TestOrganization,
  teamId: string,
  workspaceId: string,
  attributes: { access: string } & Record<string, unknown>,
): Promise<string> {
  const response = await organization.owner.client.post(
    '/team-workspaces',
    grantBody(teamId, 'workspace', workspaceId, attributes),
  )
  return made(response, 201).json.data.id
}

/** Creates a project of the organization. Returns its id. */
export async function createProject(
  organization: TestOrganization,
  attributes: { name?: string } & Record<string, unknown> = {},
): Promise<string> {
  const response = await organization.owner.client.post(
    `/organizations/${organization.name}/projects`,
    body('projects', { name: uniqueName('project'), ...attributes }),
  )
  return made(response, 201).json.data.id
}

/** The relationship of a workspace to its project. */
export const inProject = (id: string | undefined) => ({ project: { data: { type: 'projects', id } } })

/** Gives a team access to a project. Returns the grant's id. */
export async function grantProject(
  organization: TestOrganization,
  teamId: string,
  projectId: string,
  attributes: { access: string } & Record<string, unknown>,
): Promise<string> {
  const response = await organization.owner.client.post(
    '/team-projects',
    grantBody(teamId, 'project', projectId, attributes),
  )
  return made(response, 201).json.data.id
}
