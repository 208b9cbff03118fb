// What is measured while teams grow.
import { setTimeout as pause } from 'node:timers/promises'
import { withTeams, withTeamsOfWorkspace } from './bulk.ts'
import { withTeamsOfPerson } from './bulk-people.ts'
import {
  AS_MEMBER,
  filtered,
  lastPageOf,
  pageOf,
  readsOf,
  sentBy,
  WRITES,
  writesOf,
  type Dimension,
} from './scaling-asked.ts'

const INDEXING_MS = 5_000
const MIDDLE = 40
const MOST_HOLDING_TEAMS = 5_000

export const teams: Dimension = {
  name: 'teams',
  sizes: [100, 1_000, 10_000, 100_000, 1_000_000],
  make: async (database, size) => {
    const { organization, ids } = await withTeams(database, size)
    const { owner, member, name } = organization
    const own = `/organizations/${name}`
    const list = `${own}/teams`
    const read = readsOf(owner.token)
    const readAsMember = readsOf(member.token, AS_MEMBER)
    const write = writesOf(owner.token)
    const send = sentBy(owner.token)
    const q = `${list}?q=${organization.teams[1]?.name}`
    const team = `/teams/${organization.teams[2]?.id}`
    return async (purser) => {
      // Reads all names, which are indexed afterwards.
      await purser.must('GET', q, owner.token)
      await pause(INDEXING_MS)
      return [
        read('show a team', team),
        read('first page', list),
        read('last page', lastPageOf(list, size + 6)),
        read('a page in the middle', pageOf(list, Math.ceil(size / MIDDLE)), 'search'),
        read('filter[names]', filtered(list, 'filter[names]', organization.teams[1]?.name ?? '')),
        read('q', q, 'search'),
        readAsMember('show a team', team),
        readAsMember('first page', list),
        read('show the organization', own),
        read('tokens of a team', `${team}/authentication-tokens`),
        write('create a team', ['POST', list], 'teams'),
        write('change a team', ['PATCH', team], 'teams', (number) => ({ name: `changed-${number}` })),
        write(
          'create a token of a team',
          ['POST', `${team}/authentication-tokens`, '201'],
          'authentication-tokens',
          (number) => ({
            description: `new-${number}`,
          }),
        ),
        send(
          'delete a team',
          '204',
          ids.slice(0, WRITES).map((id) => ['DELETE', `/teams/${id}`]),
        ),
      ]
    }
  },
}

export const teamsOfWorkspace: Dimension = {
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

export const teamsOfPerson: Dimension = {
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
      readAsMember('show the own membership', `/organization-memberships/${memberMembershipId}`, 'answer'),
      readAsOwner('show the membership', `/organization-memberships/${memberMembershipId}`, 'answer'),
      readAsOwner('first page of members', `${own}/organization-memberships`, 'answer'),
      readAsOwner('effective access', filtered(`${own}/effective-access`, 'user', member.id), 'answer'),
      write('create a team, refused', ['POST', `${own}/teams`, '404'], 'teams'),
      write('change a workspace, refused', ['PATCH', `/workspaces/${workspaceId}`, '404'], 'workspaces'),
    ]
  },
}
