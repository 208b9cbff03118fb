import { flagSet } from '../../src/access/organization-flags.ts'
import { newId } from '../../src/core/ids.ts'
import { bumpVersion } from '../../src/organizations/organization-store.ts'
import { insertTeamMember } from '../../src/teams/team-member-store.ts'
import { insertTeam } from '../../src/teams/team-store.ts'
import type { OrganizationFlag } from '../../src/access/organization-flags.ts'
import { sessionOf } from './browser.ts'
import type { Client } from './client.ts'
import type { TestServer } from './server.ts'
import { createStates } from './place-states.ts'
import {
  createTestOrganization,
  createUser,
  uniqueName,
  type Person,
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
  const member = await createMember(server, organization)
  const invited = await createMember(server, organization, 'invited')
  const secret = await createTeam(server, organization, { visibility: 'secret', members: [member] })
  const open = await createTeam(server, organization, { visibility: 'organization', members: [invited] })
  const owner = organization.owner.client
  const workspaces = [await createWorkspace(owner, organization), await createWorkspace(owner, organization)]
  const [workspace] = workspaces as [Made]
  await owner.post(`/workspaces/${workspace.id}/relationships/tags`, {
    data: [{ type: 'tags', attributes: { name: 'tagged' } }],
  })
  const tags = await owner.get(`/workspaces/${workspace.id}/relationships/tags`)
  const bindings = await owner.patch(`/workspaces/${workspace.id}/tag-bindings`, {
    data: [{ type: 'tag-bindings', attributes: { key: 'a', value: 'b' } }],
  })
  const grant = await created(owner, '/team-workspaces', {
    type: 'team-workspaces',
    attributes: { access: 'read' },
    relationships: {
      workspace: { data: { type: 'workspaces', id: workspaces[0]?.id } },
      team: { data: { type: 'teams', id: open } },
    },
  })
  const projectGrant = await created(owner, '/team-projects', {
    type: 'team-projects',
    attributes: { access: 'read' },
    relationships: {
      project: { data: { type: 'projects', id: workspaces[0]?.relationships.project.data.id } },
      team: { data: { type: 'teams', id: open } },
    },
  })
  const teamToken = await created(owner, `/teams/${secret}/authentication-token`, {
    type: 'authentication-tokens',
  })
  const organizationToken = await created(owner, `/organizations/${organization.name}/authentication-token`, {
    type: 'authentication-tokens',
  })
  const states = await createStates(owner, workspaces[0]?.id as string)
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
      'organization-memberships': [member.membershipId, invited.membershipId],
      workspaces: workspaces.map(({ id }) => id),
      'workspace names': workspaces.map(({ attributes }) => attributes.name),
      projects: workspaces.map(({ relationships }) => relationships.project.data.id),
      tags: [tags.json.data[0].id],
      'tag-bindings': [bindings.json.data[0].id],
      'team-workspaces': [grant.id],
      'team-projects': [projectGrant.id],
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
export async function created(client: Client, path: string, data: object): Promise<Made> {
  const answer = await client.post(path, { data })
  if (answer.status !== 201 && answer.status !== 200)
    throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.json.data as Made
}

function createWorkspace(client: Client, { name }: TestOrganization): Promise<Made> {
  return created(client, `/organizations/${name}/workspaces`, {
    type: 'workspaces',
    attributes: { name: uniqueName('workspace') },
  })
}

export type Member = Person & { membershipId: string; status: 'active' | 'invited' }

export async function createMember(
  server: TestServer,
  { id }: TestOrganization,
  status: Member['status'] = 'active',
): Promise<Member> {
  const person = await createUser(server, status === 'active' ? 'member' : status)
  const membershipId = newId('membership')
  await server.app.deps.database.write(async (tx) => {
    await tx.db
      .insertInto('memberships')
      .values({
        id: membershipId,
        organization_id: id,
        user_id: person.id,
        status,
        created_at: server.clock.now().toISOString(),
      })
      .execute()
    await bumpVersion(tx, id)
  })
  return { ...person, membershipId, status }
}

let teamCount = 0

export type TeamOptions = {
  visibility?: 'secret' | 'organization'
  flags?: readonly OrganizationFlag[]
  members?: readonly Member[]
}

/** Creates a team directly in the database. Returns its id. */
export async function createTeam(
  server: TestServer,
  organization: TestOrganization,
  { visibility = 'secret', flags = [], members = [] }: TeamOptions,
): Promise<string> {
  const id = newId('team')
  const at = server.clock.now().toISOString()
  await server.app.deps.database.write(async (tx) => {
    await insertTeam(tx, {
      id,
      organization_id: organization.id,
      name: `team-${(teamCount += 1)}`,
      visibility,
      organization_access: flagSet(...flags),
      allow_member_token_management: 1,
      created_at: at,
      updated_at: at,
    })
    for (const member of members) {
      await insertTeamMember(tx, {
        team_id: id,
        membership_id: member.membershipId,
        user_id: member.id,
        organization_id: organization.id,
        is_active: member.status === 'active' ? 1 : 0,
      })
    }
    await bumpVersion(tx, organization.id, 1, visibility === 'organization' ? 1 : 0)
  })
  return id
}

export function ownersTeamOf(server: TestServer, { id }: TestOrganization): Promise<string> {
  return server.app.deps.database.read(async (tx) => {
    const query = tx.db.selectFrom('organizations').where('id', '=', id).select('owners_team_id')
    return (await query.executeTakeFirstOrThrow()).owners_team_id
  })
}
