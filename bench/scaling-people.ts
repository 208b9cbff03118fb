// What is measured while members, organizations and audit events grow.
import { withEvents } from './bulk.ts'
import { withMembers } from './bulk-people.ts'
import { withOrganizations } from './bulk-sites.ts'
import { filtered, lastPageOf, readsOf, sentBy, WRITES, writesOf, type Dimension } from './scaling-asked.ts'

export const members: Dimension = {
  name: 'members',
  sizes: [10, 100, 1_000, 10_000, 100_000],
  make: async (database, size) => {
    const { organization, membershipIds, userIds, workspaceId } = await withMembers(database, size)
    const list = `/organizations/${organization.name}/organization-memberships`
    const team = `/teams/${organization.teams.at(-1)?.id}`
    const other = `/teams/${organization.teams[0]?.id}/relationships/organization-memberships`
    const some = membershipIds
      .slice(0, WRITES)
      .map((id) => ({ data: [{ type: 'organization-memberships', id }] }))
    const read = readsOf(organization.owner.token)
    const write = writesOf(organization.owner.token)
    const send = sentBy(organization.owner.token)
    return async () => [
      read('show a membership', `/organization-memberships/${membershipIds[0]}`),
      read('show a user', `/users/${userIds[0]}`),
      read('first page', list),
      read('last page', lastPageOf(list, size)),
      read('filter[status]', filtered(list, 'filter[status]', 'active'), 'counts'),
      read('q', filtered(list, 'q', 'zzz'), 'search'),
      read('show the team with all members', team, 'answer'),
      read('members of the team', `${team}/relationships/organization-memberships`, 'counts'),
      read('show a workspace of the team', `/workspaces/${workspaceId}`),
      write('invite a member', ['POST', list, '201'], 'organization-memberships', (number) => ({
        email: `new-${number}-of-${size}@example.com`,
      })),
      send(
        'add a member to a team',
        '204',
        some.map((one) => ['POST', other, one]),
      ),
      send(
        'remove a member from a team',
        '204',
        some.map((one) => ['DELETE', other, one]),
      ),
    ]
  },
}

export const organizations: Dimension = {
  name: 'organizations',
  sizes: [100, 1_000, 10_000, 100_000],
  isOfSite: true,
  make: async (database, size) => {
    const { organization, admin } = await withOrganizations(database, size)
    const { owner, name } = organization
    const own = `/organizations/${name}`
    const read = readsOf(owner.token)
    const readAsAdmin = readsOf(admin.token, ', as an administrator')
    const write = writesOf(owner.token)
    const writeAsAdmin = writesOf(admin.token)
    return async () => [
      read('show an organization', own),
      read('show a team', `/teams/${organization.teams[2]?.id}`),
      read('first page of teams', `${own}/teams`),
      read('own organizations', '/organizations'),
      read('own memberships', '/organization-memberships'),
      read('show the account', '/account/details'),
      readAsAdmin('first page', filtered('/organizations', 'page[size]', '20'), 'counts'),
      readAsAdmin('list without paging', '/organizations', 'answer'),
      readAsAdmin('q', '/organizations?q=zzz', 'search'),
      readAsAdmin('first page of users', '/admin/users', 'counts'),
      readAsAdmin('users, q', '/admin/users?q=zzz', 'search'),
      write('create a team', ['POST', `${own}/teams`], 'teams'),
      writeAsAdmin(
        'create an organization',
        ['POST', '/organizations', '201'],
        'organizations',
        (number) => ({
          name: `new-${number}-of-${size}`,
          email: 'new@example.com',
        }),
      ),
      writeAsAdmin('create a user', ['POST', '/admin/users', '201'], 'users', (number) => ({
        username: `new-${number}-of-${size}`,
        email: `site-${number}-of-${size}@example.com`,
      })),
    ]
  },
}

export const events: Dimension = {
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
