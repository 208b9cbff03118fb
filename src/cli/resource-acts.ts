import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { withOwnClient } from '../import/own-client.ts'
import { relatedId, type Resource } from '../import/source-lists.ts'
import { projectLevels } from '../team-access/project-levels.ts'
import { workspaceLevels } from '../team-access/workspace-levels.ts'
import { note, print, printJson, printTable } from './output.ts'
import { organizationPath, projectId, teamId, userId, workspaceId } from './resource-kinds.ts'

export type ActFlags = { organization: string; as?: string; json?: true }

export async function createWorkspace(
  config: Config,
  name: string,
  flags: ActFlags & { project?: string },
): Promise<void> {
  const made = await withOwnClient(config, { as: flags.as }, async (client) => {
    const path = await organizationPath(client, flags)
    const { project: projectName } = flags
    const project =
      projectName === undefined
        ? {}
        : {
            project: {
              data: {
                type: 'projects',
                id: found(await projectId(client, projectName, flags), `project ${projectName}`, flags),
              },
            },
          }
    const data = { type: 'workspaces', attributes: { name }, relationships: project }
    return client.send('POST', `${path}/workspaces`, data)
  })
  printMade('workspace', name, made, flags)
}

export async function createTeam(
  config: Config,
  name: string,
  flags: ActFlags & { visibility: string },
): Promise<void> {
  const made = await withOwnClient(config, { as: flags.as }, async (client) => {
    const { visibility } = flags
    const path = await organizationPath(client, flags)
    return client.send('POST', `${path}/teams`, { type: 'teams', attributes: { name, visibility } })
  })
  printMade('team', name, made, flags)
}

function printMade(kind: string, name: string, made: Resource, { json }: ActFlags): void {
  if (json) printJson({ data: made })
  else print(`made the ${kind} ${name} (${made.id})`)
}

export type GrantFlags = ActFlags & { workspace?: string; project?: string; access: string }

/**
 * The two kinds of grants, and the levels that only one of them has. `outputs` names all details: those that a change leaves
 * out keep what the level before gave.
 */
const places = {
  workspace: {
    type: 'team-workspaces',
    types: 'workspaces',
    idOf: workspaceId,
    foreign: 'maintain',
    outputs: { ...workspaceLevels.custom, 'state-versions': 'read-outputs' },
  },
  project: {
    type: 'team-projects',
    types: 'projects',
    idOf: projectId,
    foreign: 'plan',
    outputs: {
      'project-access': projectLevels.custom.project,
      'workspace-access': { ...projectLevels.custom.workspace, 'state-versions': 'read-outputs' },
    },
  },
} as const

/** Gives a team a level on a workspace or project, whatever it had there before. */
export async function grantTeam(config: Config, teamName: string, flags: GrantFlags): Promise<void> {
  const { workspace, project, access, as, json } = flags
  const kind = workspace === undefined ? 'project' : 'workspace'
  const placeName = workspace ?? project ?? ''
  const { type, types, idOf, foreign, outputs } = places[kind]
  if (access === foreign) throw new OperatorError(`a ${kind} has no level ${access}`)
  const attributes = access === 'read-outputs' ? { access: 'custom', ...outputs } : { access }
  const result = await withOwnClient(config, { as }, async (client) => {
    const team = found(await teamId(client, teamName, flags), `team ${teamName}`, flags)
    const place = found(await idOf(client, placeName, flags), `${kind} ${placeName}`, flags)
    const { data: grants } = await client.list(`/${type}`, { [`filter[${kind}][id]`]: place })
    const grant = grants.find((one) => relatedId(one, 'team') === team)
    if (access === 'none') return grant !== undefined && (await client.delete(`/${type}/${grant.id}`))
    if (grant !== undefined) return client.send('PATCH', `/${type}/${grant.id}`, { type, attributes })
    const relationships = {
      team: { data: { type: 'teams', id: team } },
      [kind]: { data: { type: types, id: place } },
    }
    return client.send('POST', `/${type}`, { type, attributes, relationships })
  })
  if (json) printJson(typeof result === 'boolean' ? { deleted: result } : { data: result })
  else if (result === false) print(`the team ${teamName} had no access to the ${kind} ${placeName}`)
  else if (result === true) print(`took the access to the ${kind} ${placeName} from the team ${teamName}`)
  else print(`the team ${teamName} has ${access} on the ${kind} ${placeName}`)
}

export async function listMembers(config: Config, name: string, flags: ActFlags): Promise<void> {
  const { data, included } = await withOwnClient(
    config,
    { as: flags.as, isReadOnly: true },
    async (client) => {
      const team = found(await teamId(client, name, flags), `team ${name}`, flags)
      return client.list(`/teams/${team}/relationships/organization-memberships`, { include: 'user' })
    },
  )
  if (flags.json) printJson({ data })
  else if (data.length === 0) note(`the team ${name} has no members`)
  else {
    const rows = data.map((membership) => {
      const user = included.get(relatedId(membership, 'user') ?? '')
      const { email, status } = membership.attributes
      return [user?.attributes.username, email, status, user?.id].map((value) =>
        typeof value === 'string' ? value : '-',
      )
    })
    printTable([['name', 'email', 'status', 'id'], ...rows])
  }
}

/** All or none of them. */
export async function changeMembers(
  config: Config,
  verb: 'add' | 'remove',
  name: string,
  users: readonly string[],
  flags: ActFlags,
): Promise<void> {
  await withOwnClient(config, { as: flags.as }, async (client) => {
    const team = found(await teamId(client, name, flags), `team ${name}`, flags)
    const ids = await Promise.all(
      users.map(async (user) => found(await userId(client, user), `user ${user}`)),
    )
    const data = ids.map((id) => ({ type: 'users', id }))
    await client.act(`/teams/${team}/relationships/users`, { data }, verb === 'add' ? 'POST' : 'DELETE')
  })
  if (flags.json) printJson({ team: name, [verb === 'add' ? 'added' : 'removed']: users })
  else
    print(
      verb === 'add' ? `added ${users.join(', ')} to ${name}` : `removed ${users.join(', ')} from ${name}`,
    )
}

/** Invites somebody by email. Who has an account finds the invitation in the pages; who has none needs a link. */
export async function inviteUser(
  config: Config,
  email: string,
  flags: ActFlags & { team: readonly string[] },
): Promise<void> {
  const type = 'organization-memberships'
  const made = await withOwnClient(config, { as: flags.as }, async (client) => {
    const { organization, team: names } = flags
    const path = await organizationPath(client, { organization })
    const teams = await Promise.all(
      names.map(async (name) => found(await teamId(client, name, { organization }), `team ${name}`, flags)),
    )
    const relationships = { teams: { data: teams.map((id) => ({ type: 'teams', id })) } }
    return client.send('POST', `${path}/${type}`, { type, attributes: { email }, relationships })
  })
  if (flags.json) printJson({ data: made })
  else print(`invited ${email} to ${flags.organization} (${made.id})`)
}

export async function suspendUser(
  config: Config,
  verb: 'suspend' | 'unsuspend',
  name: string,
  { as, json }: Omit<ActFlags, 'organization'>,
): Promise<void> {
  await withOwnClient(config, { as }, async (client) => {
    const id = found(await userId(client, name), `user ${name}`)
    await client.act(`/admin/users/${id}/actions/${verb}`, {})
  })
  if (json) printJson({ [`${verb}ed`]: name })
  else print(`${verb}ed the user ${name}`)
}

function found(id: string | undefined, what: string, place?: Pick<ActFlags, 'organization'>): string {
  if (id !== undefined) return id
  throw new OperatorError(`there is no ${what}${place === undefined ? '' : ` in ${place.organization}`}`)
}
