import { PASSWORD } from './access-requests.ts'
import { sessionOf } from './browser.ts'
import type { Target } from './access-table.ts'
import type { TestServer } from './server.ts'
import type { Client } from './client.ts'
import { base64, lock, md5Of, postState, stateText } from './states.ts'
import {
  addMember,
  createProject,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  invitePerson,
  made,
  uniqueName,
  type TestOrganization,
} from './world.ts'

type TeamTarget = NonNullable<Target['team']>

/** An organization with one object of each kind that routes need. */
export type Home = {
  organization: TestOrganization
  ownerMembershipId: string
  /** Visible without anything, visible with a flag, visible with grants, secret with grants, and the owners. */
  teams: Record<'open' | 'flagged' | 'granted' | 'secret' | 'owners', TeamTarget>
  /** Teams without a grant, to create one for. */
  freeTeams: { open: TeamTarget; secret: TeamTarget }
  projectId: string
  workspaceId: string
  workspaceName: string
  /** A tag of the workspace. */
  tagId: string
  /** A member of each of these teams. */
  members: Record<'open' | 'granted' | 'secret', { id: string; membershipId: string }>
  outsiderId: string
  grants: { granted: string; secret: string }
  projectGrants: { granted: string; secret: string }
  /** A session of the owner. */
  sessionId: string
  tokens: Record<
    'user' | 'openTeam' | 'flaggedTeam' | 'grantedTeam' | 'secretTeam' | 'ownersTeam' | 'organization',
    string
  >
  /** Versions of one workspace: the current one, an older one, and one whose content is soft-deleted. */
  stateVersions: { current: string; older: string; deleted: string }
  outputId: string
  /** A state version that waits for its upload. */
  upload: { signature: string; stateVersionId: string }
}

export async function createHome(server: TestServer): Promise<Home> {
  const organization = await createTestOrganization(server)
  const { client } = organization.owner
  const list = await client.get(`/organizations/${organization.name}/teams`)
  const ownersId = list.json.data[0].id as string
  const memberships = await client.get(`/organizations/${organization.name}/organization-memberships`)
  const open = await createTeam(organization, { visibility: 'organization' })
  const flagged = await createTeam(organization, {
    visibility: 'organization',
    'organization-access': { 'read-workspaces': true },
  })
  const granted = await createTeam(organization, { visibility: 'organization' })
  const secret = await createTeam(organization)
  const inOpen = await addMember(server, organization, [open])
  const inGranted = await addMember(server, organization, [granted])
  const inSecret = await addMember(server, organization, [secret])
  await invitePerson(organization, await createUser(server))
  const projectId = await createProject(organization)
  const workspaceName = uniqueName('workspace')
  const project = inProject(projectId)
  const workspaceId = await createWorkspace(organization, { name: workspaceName }, project)
  const stateVersions = await createWholeStates(client, workspaceId)
  const outputs = await client.get(`/state-versions/${stateVersions.current}/outputs`)
  await client.post(`/workspaces/${workspaceId}/relationships/tags`, {
    data: [{ type: 'tags', attributes: { name: 'tagged' } }],
  })
  const tags = await client.get(`/workspaces/${workspaceId}/relationships/tags`)
  const token = async (path: string) => {
    const answer = await client.post(path, { data: { type: 'authentication-tokens', attributes: {} } })
    return made(answer, 201).json.data.id as string
  }
  return {
    organization,
    ownerMembershipId: memberships.json.data[0].id,
    teams: {
      open: { id: open, isOpen: true, isOwners: false },
      flagged: { id: flagged, isOpen: true, isOwners: false, flags: ['read-workspaces'] },
      granted: { id: granted, isOpen: true, isOwners: false, grants: ['workspace', 'project'] },
      secret: { id: secret, isOpen: false, isOwners: false, grants: ['workspace', 'project'] },
      owners: { id: ownersId, isOpen: false, isOwners: true },
    },
    freeTeams: {
      open: {
        id: await createTeam(organization, { visibility: 'organization' }),
        isOpen: true,
        isOwners: false,
      },
      secret: { id: await createTeam(organization), isOpen: false, isOwners: false },
    },
    projectId,
    workspaceId,
    workspaceName,
    tagId: tags.json.data[0].id,
    members: { open: inOpen, granted: inGranted, secret: inSecret },
    outsiderId: (await createUser(server)).id,
    grants: {
      granted: await grantWorkspace(organization, granted, workspaceId, { access: 'read' }),
      secret: await grantWorkspace(organization, secret, workspaceId, { access: 'read' }),
    },
    projectGrants: {
      granted: await grantProject(organization, granted, projectId, { access: 'read' }),
      secret: await grantProject(organization, secret, projectId, { access: 'read' }),
    },
    sessionId: await sessionOf(server, organization.owner.id, PASSWORD),
    tokens: {
      user: await token(`/users/${organization.owner.id}/authentication-tokens`),
      openTeam: await token(`/teams/${open}/authentication-token`),
      secretTeam: await token(`/teams/${secret}/authentication-token`),
      organization: await token(`/organizations/${organization.name}/authentication-token`),
      flaggedTeam: await token(`/teams/${flagged}/authentication-token`),
      grantedTeam: await token(`/teams/${granted}/authentication-token`),
      ownersTeam: await token(`/teams/${ownersId}/authentication-token`),
    },
    stateVersions,
    outputId: outputs.json.data[0].id,
    upload: await createUpload(organization),
  }
}

/** Creates finalized states with one output and with their JSON state. */
async function createWholeStates(client: Client, workspaceId: string): Promise<Home['stateVersions']> {
  await lock(client, workspaceId)
  const make = async (serial: number) => {
    const text = stateText('{"a":{"value":1,"type":"number"}}', serial)
    const more = { state: base64(text), 'json-state': base64('{}') }
    return (await postState(client, workspaceId, text, more)).json.data.id as string
  }
  const states = { deleted: await make(0), older: await make(1), current: await make(2) }
  await client.post(`/workspaces/${workspaceId}/actions/unlock`)
  made(await client.post(`/state-versions/${states.deleted}/actions/soft_delete_backing_data`), 200)
  return states
}

/** Creates a state version that waits for its upload, in a new workspace. */
async function createUpload(organization: TestOrganization): Promise<Home['upload']> {
  const { client } = organization.owner
  const id = await createWorkspace(organization)
  await lock(client, id)
  const text = stateText('{}')
  const version = await client.post(`/workspaces/${id}/state-versions`, {
    data: { type: 'state-versions', attributes: { serial: 1, md5: md5Of(text), lineage: 'a' } },
  })
  const url = new URL(version.json.data.attributes['hosted-state-upload-url'])
  return { signature: url.pathname.split('/')[2] as string, stateVersionId: version.json.data.id }
}
