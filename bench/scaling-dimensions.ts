// What is measured while the data grows, by kind of data.
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../src/database/database.ts'
import {
  organizationOf,
  withEvents,
  withStateVersions,
  withTeams,
  withTeamsOfWorkspace,
  withWorkspaces,
} from './bulk.ts'
import { withMembers, withTeamsOfPerson } from './bulk-people.ts'
import { wire, type Purser } from './purser.ts'
import { createWorkspace, outputIds, smallState, upload } from './states.ts'

const WRITES = 200
const INDEXING_MS = 5_000
const PAGE = 20
const MOST_HOLDING_TEAMS = 5_000

/** A request that is measured at each size. Several requests are sent once each. */
export type Asked = {
  readonly what: string
  /**
   * `constant`: must not grow. `counts`: a first page that grows because the database counts or sorts all that it lists.
   * `more`: the answer is larger, or a search has more to look at.
   */
  readonly growth: 'constant' | 'counts' | 'more'
  readonly requests: readonly string[]
  readonly status?: string
}

export type Dimension = {
  readonly name: string
  readonly sizes: readonly number[]
  /** Makes the data, before the server starts. Then says what to ask the server. */
  readonly make: (database: Database, size: number) => Promise<(purser: Purser) => Promise<Asked[]>>
}

const pageOf = (path: string, number: number) => `${path}?page%5Bnumber%5D=${number}`
const filtered = (path: string, name: string, value: string) =>
  `${path}?${encodeURIComponent(name)}=${encodeURIComponent(value)}`

/** Reads of one caller. */
function readsOf(token: string, who = '') {
  return (what: string, path: string, growth: Asked['growth'] = 'constant'): Asked => ({
    what: what + who,
    growth,
    requests: [wire('GET', path, token)],
  })
}

/** Writes of one caller, each of another name. */
function writesOf(token: string) {
  return (
    what: string,
    [method, path, status = '200']: readonly [method: string, path: string, status?: string],
    type: string,
    attributesOf = (number: number): object => ({ name: `new-${number}` }),
  ): Asked => ({
    what,
    growth: 'constant',
    status,
    requests: Array.from({ length: WRITES }, (_, number) =>
      wire(method, path, token, { data: { type, attributes: attributesOf(number) } }),
    ),
  })
}

const AS_MEMBER = ', as a member'

const teams: Dimension = {
  name: 'teams',
  sizes: [100, 1_000, 10_000, 100_000, 1_000_000],
  make: async (database, size) => {
    const organization = await withTeams(database, size)
    const { owner, member, name } = organization
    const own = `/organizations/${name}`
    const list = `${own}/teams`
    const read = readsOf(owner.token)
    const readAsMember = readsOf(member.token, AS_MEMBER)
    const write = writesOf(owner.token)
    const q = `${list}?q=${organization.teams[1]?.name}`
    const team = `/teams/${organization.teams[2]?.id}`
    return async (purser) => {
      // Reads all names, which are indexed afterwards.
      await purser.must('GET', q, owner.token)
      await pause(INDEXING_MS)
      return [
        read('show a team', team),
        read('first page', list),
        read('last page', pageOf(list, Math.ceil((size + 6) / PAGE))),
        read('a page in the middle', pageOf(list, Math.ceil(size / PAGE / 2)), 'more'),
        read('filter[names]', filtered(list, 'filter[names]', organization.teams[1]?.name ?? '')),
        read('q', q, 'more'),
        readAsMember('show a team', team),
        readAsMember('first page', list),
        read('show the organization', own),
        read('tokens of a team', `${team}/authentication-tokens`),
        write('create a team', ['POST', list], 'teams'),
        write('change a team', ['PATCH', team], 'teams', (number) => ({ name: `changed-${number}` })),
      ]
    }
  },
}

const teamsOfWorkspace: Dimension = {
  name: 'teams of a workspace',
  sizes: [100, 1_000, 10_000, 100_000],
  make: async (database, size) => {
    const { organization, workspaceId } = await withTeamsOfWorkspace(database, size)
    const read = readsOf(organization.owner.token)
    const workspace = `/workspaces/${workspaceId}`
    return async () => [
      read('show the workspace', workspace),
      read('show a team', `/teams/${organization.teams[2]?.id}`),
      read('grants on the workspace', `${workspace}/access-grants`, 'counts'),
      // The server refuses a list of the holders for more teams.
      ...(size > MOST_HOLDING_TEAMS
        ? []
        : [read('holders on the workspace', `${workspace}/access-holders`, 'counts')]),
      read('tokens of all teams', `/organizations/${organization.name}/team-tokens`, 'counts'),
    ]
  },
}

const workspaces: Dimension = {
  name: 'workspaces',
  sizes: [100, 1_000, 10_000, 100_000],
  make: async (database, size) => {
    const { organization, workspaceId, projectId } = await withWorkspaces(database, size)
    const { owner, member, name } = organization
    const own = `/organizations/${name}`
    const list = `${own}/workspaces`
    const workspace = `/workspaces/${workspaceId}`
    const read = readsOf(owner.token)
    const readAsMember = readsOf(member.token, AS_MEMBER)
    const write = writesOf(owner.token)
    return async () => [
      read('show a workspace', workspace),
      read('first page', list),
      read('last page', pageOf(list, Math.ceil(size / PAGE))),
      read('sort=-name', `${list}?sort=-name`),
      read('include=project', `${list}?include=project`),
      read('filter[project][id]', filtered(list, 'filter[project][id]', projectId)),
      read('search[tags]', filtered(list, 'search[tags]', 'common'), 'counts'),
      read('search[name]', filtered(list, 'search[name]', 'zzz'), 'more'),
      readAsMember('show a workspace', workspace),
      readAsMember('first page', list),
      readAsMember('sort=-name', `${list}?sort=-name`, 'counts'),
      read('show a project', `/projects/${projectId}`),
      read('list of projects', `${own}/projects`),
      readAsMember('show a project', `/projects/${projectId}`, 'counts'),
      read('holders of the project', `/projects/${projectId}/access-holders`, 'counts'),
      read('tags', `${own}/tags`, 'counts'),
      read('tags of a workspace', `${workspace}/relationships/tags`, 'counts'),
      readAsMember('tags of a workspace', `${workspace}/relationships/tags`, 'counts'),
      read('grants of a team', `/teams/${organization.memberTeams[1]?.id}/access-grants`, 'counts'),
      write('create a workspace', ['POST', list, '201'], 'workspaces'),
      write('change a workspace', ['PATCH', workspace], 'workspaces', (number) => ({
        description: `changed ${number}`,
      })),
    ]
  },
}

const outputs: Dimension = {
  name: 'outputs',
  sizes: [10, 100, 1_000, 10_000, 100_000],
  make: async (database, size) => {
    const organization = await organizationOf(database, `grown-outputs-${size}`)
    const { token } = organization.owner
    const read = readsOf(token)
    return async (purser) => {
      const workspaceId = await createWorkspace(purser, organization, 'outputs')
      const version = await upload(purser, workspaceId, token, smallState(1, size))
      const [id] = await outputIds(purser, workspaceId, token)
      const list = `/state-versions/${version}/outputs`
      return [
        read('show an output', `/state-version-outputs/${id}`),
        read('first page', list),
        read('last page', pageOf(list, Math.ceil(size / PAGE))),
        read('show the state version', `/state-versions/${version}`),
        read('current outputs, all', `/workspaces/${workspaceId}/current-state-version-outputs`, 'more'),
      ]
    }
  },
}

const stateVersions: Dimension = {
  name: 'state versions',
  sizes: [10, 100, 1_000, 10_000],
  make: async (database, size) => {
    const { organization, workspaceId, newestId } = await withStateVersions(database, size)
    const read = readsOf(organization.owner.token)
    const list = `${filtered('/state-versions', 'filter[organization][name]', organization.name)}&filter%5Bworkspace%5D%5Bname%5D=alone`
    return async () => [
      read('show a state version', `/state-versions/${newestId}`),
      read('show the current one', `/workspaces/${workspaceId}/current-state-version`),
      read('show the workspace', `/workspaces/${workspaceId}`),
      read('first page', list, 'counts'),
    ]
  },
}

const members: Dimension = {
  name: 'members',
  sizes: [10, 100, 1_000, 10_000, 100_000],
  make: async (database, size) => {
    const { organization, membershipId, userId, workspaceId } = await withMembers(database, size)
    const list = `/organizations/${organization.name}/organization-memberships`
    const team = `/teams/${organization.teams.at(-1)?.id}`
    const read = readsOf(organization.owner.token)
    const write = writesOf(organization.owner.token)
    return async () => [
      read('show a membership', `/organization-memberships/${membershipId}`),
      read('show a user', `/users/${userId}`),
      read('first page', list),
      read('last page', pageOf(list, Math.ceil(size / PAGE))),
      read('filter[status]', filtered(list, 'filter[status]', 'active'), 'counts'),
      read('q', filtered(list, 'q', 'zzz'), 'more'),
      read('show the team with all members', team, 'more'),
      read('members of the team', `${team}/relationships/organization-memberships`, 'counts'),
      read('show a workspace of the team', `/workspaces/${workspaceId}`),
      write('invite a member', ['POST', list, '201'], 'organization-memberships', (number) => ({
        email: `new-${number}-of-${size}@example.com`,
      })),
    ]
  },
}

const teamsOfPerson: Dimension = {
  name: 'teams of a person',
  sizes: [10, 100, 1_000, 10_000, 100_000],
  make: async (database, size) => {
    const { organization, workspaceId, teamId } = await withTeamsOfPerson(database, size)
    const { owner, member, memberMembershipId, name } = organization
    const own = `/organizations/${name}`
    const readAsMember = readsOf(member.token, AS_MEMBER)
    const readAsOwner = readsOf(owner.token, ', as an owner')
    const write = writesOf(member.token)
    return async () => [
      readAsMember('show a team', `/teams/${teamId}`),
      readAsMember('first page of teams', `${own}/teams`, 'counts'),
      readAsMember('show the organization', own),
      readAsMember('show the account', '/account/details'),
      readAsMember('show the workspace', `/workspaces/${workspaceId}`),
      readAsMember('first page of workspaces', `${own}/workspaces`, 'counts'),
      readAsMember('show the own membership', `/organization-memberships/${memberMembershipId}`, 'more'),
      readAsOwner('show the membership', `/organization-memberships/${memberMembershipId}`, 'more'),
      readAsOwner('first page of members', `${own}/organization-memberships`, 'more'),
      readAsOwner('effective access', filtered(`${own}/effective-access`, 'user', member.id), 'more'),
      write('create a team, refused', ['POST', `${own}/teams`, '404'], 'teams'),
      write('change a workspace, refused', ['PATCH', `/workspaces/${workspaceId}`, '404'], 'workspaces'),
    ]
  },
}

const events: Dimension = {
  name: 'audit events',
  sizes: [100, 1_000, 10_000, 100_000],
  make: async (database, size) => {
    const organization = await withEvents(database, size)
    const list = `/organizations/${organization.name}/audit-events`
    const read = readsOf(organization.owner.token)
    const write = writesOf(organization.owner.token)
    return async () => [
      read('first page', list),
      read('filter[action]', filtered(list, 'filter[action]', 'team.create'), 'counts'),
      write('create a team', ['POST', `/organizations/${organization.name}/teams`], 'teams'),
    ]
  },
}

export const dimensions: readonly Dimension[] = [
  teams,
  teamsOfWorkspace,
  workspaces,
  outputs,
  stateVersions,
  members,
  teamsOfPerson,
  events,
]
