import { sessionOf } from './browser.ts'
import type { Client } from './client.ts'
import { createStates } from './place-states.ts'
import type { TestServer } from './server.ts'
import {
  addMember,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  grantProject,
  grantWorkspace,
  invitePerson,
  type TestOrganization,
} from './world.ts'

/** An organization with objects of every kind. */
export type Place = {
  organization: TestOrganization
  /** The objects that routes can ask for: ids by JSON:API type, and names of organizations and workspaces. */
  objects: Record<string, string[]>
}

export async function createPlace(server: TestServer): Promise<Place> {
  const organization = await createTestOrganization(server)
  const ownersTeam = await ownersTeamOf(server, organization)
  const secret = await createTeam(organization, { visibility: 'secret' })
  const open = await createTeam(organization, { visibility: 'organization' })
  const member = await addMember(server, organization, [secret])
  const invited = await createUser(server, 'invited')
  const invitation = await invitePerson(organization, invited, [open])
  const owner = organization.owner.client
  const workspace = await workspaceIn(organization)
  const workspaces = [workspace, await workspaceIn(organization)]
  await owner.post(`/workspaces/${workspace.id}/relationships/tags`, {
    data: [{ type: 'tags', attributes: { name: 'tagged' } }],
  })
  const tags = await owner.get(`/workspaces/${workspace.id}/relationships/tags`)
  const bindings = await owner.patch(`/workspaces/${workspace.id}/tag-bindings`, {
    data: [{ type: 'tag-bindings', attributes: { key: 'a', value: 'b' } }],
  })
  const grant = await grantWorkspace(organization, open, workspace.id, { access: 'read' })
  const projectId = workspace.relationships.project.data.id
  const projectGrant = await grantProject(organization, open, projectId, { access: 'read' })
  const teamToken = await created(owner, `/teams/${secret}/authentication-token`, {
    type: 'authentication-tokens',
  })
  const organizationToken = await created(owner, `/organizations/${organization.name}/authentication-token`, {
    type: 'authentication-tokens',
  })
  const states = await createStates(owner, workspace.id)
  const token = await created(owner, `/users/${organization.owner.id}/authentication-tokens`, {
    type: 'authentication-tokens',
    attributes: { description: 'of a place' },
  })
  return {
    organization,
    objects: {
      organizations: [organization.name],
      teams: [secret, open, ownersTeam],
      users: [member.id, invited.id, organization.owner.id, `api-team_${secret.slice('team-'.length)}`],
      'organization-memberships': [member.membershipId, invitation],
      workspaces: workspaces.map(({ id }) => id),
      'workspace names': workspaces.map(({ attributes }) => attributes.name),
      projects: workspaces.map(({ relationships }) => relationships.project.data.id),
      tags: [tags.json.data[0].id],
      'tag-bindings': [bindings.json.data[0].id],
      'team-workspaces': [grant],
      'team-projects': [projectGrant],
      'state-versions': [states.finalized, states.pending, states.older, states.deleted],
      'state-version-outputs': states.outputs,
      uploads: [states.signature],
      sessions: [await sessionOf(server, organization.owner.id)],
      'authentication-tokens': [token.id, teamToken.id, organizationToken.id],
    },
  }
}

type Made = { id: string; attributes: { name: string }; relationships: { project: { data: { id: string } } } }

/** Creates a resource over HTTP. Throws if that fails. */
async function created(client: Client, path: string, data: object): Promise<Made> {
  const answer = await client.post(path, { data })
  if (answer.status !== 201 && answer.status !== 200)
    throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.json.data as Made
}

async function workspaceIn(organization: TestOrganization): Promise<Made> {
  const id = await createWorkspace(organization)
  return (await organization.owner.client.get(`/workspaces/${id}`)).json.data as Made
}

function ownersTeamOf(server: TestServer, { id }: TestOrganization): Promise<string> {
  return server.app.deps.database.read(async (tx) => {
    const query = tx.db.selectFrom('organizations').where('id', '=', id).select('owners_team_id')
    return (await query.executeTakeFirstOrThrow()).owners_team_id
  })
}
