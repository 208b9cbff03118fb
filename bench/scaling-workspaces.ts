// What is measured while workspaces, projects, outputs and state versions grow.
import { withProjects } from './bulk-sites.ts'
import { organizationOf, withStateVersions, withWorkspaces } from './bulk.ts'
import { teamName } from './seed.ts'
import {
  AS_MEMBER,
  filtered,
  lastPageOf,
  readAccess,
  readsOf,
  sentBy,
  WRITES,
  writesOf,
  type Dimension,
} from './scaling-asked.ts'
import { createWorkspace, outputIds, pushBody, smallState, upload } from './states.ts'

export const workspaces: Dimension = {
  name: 'workspaces',
  sizes: [100, 1_000, 10_000, 100_000],
  make: async (database, size) => {
    const { organization, workspaceIds, projectId } = await withWorkspaces(database, size)
    const { owner, member, name } = organization
    const own = `/organizations/${name}`
    const list = `${own}/workspaces`
    const workspace = `/workspaces/${workspaceIds[0]}`
    const some = workspaceIds.slice(1, WRITES + 1)
    const teamId = organization.teams.at(-1)?.id ?? ''
    const read = readsOf(owner.token)
    const readAsMember = readsOf(member.token, AS_MEMBER)
    const write = writesOf(owner.token)
    const send = sentBy(owner.token)
    return async () => [
      read('show a workspace', workspace),
      read('show a workspace by its name', `${list}/${teamName(0)}`),
      read('first page', list),
      read('last page', lastPageOf(list, size)),
      read('sort=-name', `${list}?sort=-name`),
      read('include=project', `${list}?include=project`),
      read('filter[project][id]', filtered(list, 'filter[project][id]', projectId)),
      read('search[tags]', filtered(list, 'search[tags]', 'common'), 'counts'),
      read('search[name]', filtered(list, 'search[name]', 'zzz'), 'search'),
      readAsMember('show a workspace', workspace),
      readAsMember('show a workspace by its name', `${list}/${teamName(0)}`),
      readAsMember('first page', list),
      readAsMember('sort=-name', `${list}?sort=-name`, 'counts'),
      read('show a project', `/projects/${projectId}`),
      read('list of projects', `${own}/projects`),
      readAsMember('show a project', `/projects/${projectId}`, 'counts'),
      read('holders of the project', `/projects/${projectId}/access-holders`, 'counts'),
      read('tags', `${own}/tags`, 'counts'),
      read('tags of a workspace', `${workspace}/relationships/tags`, 'counts'),
      readAsMember('tags of a workspace', `${workspace}/relationships/tags`, 'counts'),
      read('tag bindings of a workspace', `${workspace}/effective-tag-bindings`),
      read('remote state consumers', `${workspace}/relationships/remote-state-consumers`),
      read('grants of a team', `/teams/${organization.memberTeams[1]?.id}/access-grants`, 'counts'),
      write('create a workspace', ['POST', list, '201'], 'workspaces'),
      write('change a workspace', ['PATCH', workspace], 'workspaces', (number) => ({
        description: `changed ${number}`,
      })),
      send(
        'lock and unlock a workspace',
        '200',
        some.map((_, number) => ['POST', `${workspace}/actions/${number % 2 === 0 ? 'lock' : 'unlock'}`]),
      ),
      send(
        'give a team access to a workspace',
        '201',
        some.map((id) => ['POST', '/team-workspaces', readAccess('workspace', id, teamId)]),
      ),
      send(
        'delete a workspace',
        '204',
        some.map((id) => ['DELETE', `/workspaces/${id}`]),
      ),
    ]
  },
}

export const projects: Dimension = {
  name: 'projects',
  sizes: [100, 1_000, 10_000],
  make: async (database, size) => {
    const { organization, projectIds } = await withProjects(database, size)
    const { owner, member, name } = organization
    const list = `/organizations/${name}/projects`
    const project = `/projects/${projectIds[0]}`
    const read = readsOf(owner.token)
    const readAsMember = readsOf(member.token, AS_MEMBER)
    const write = writesOf(owner.token)
    const send = sentBy(owner.token)
    return async () => [
      read('show a project', project),
      read('first page', list),
      read('last page', lastPageOf(list, size + 1)),
      read('filter[names]', filtered(list, 'filter[names]', teamName(0)), 'search'),
      read('q', filtered(list, 'q', 'zzz'), 'search'),
      read('grants on a project', `${project}/access-grants`),
      readAsMember('show a project', project),
      readAsMember('first page', list, 'counts'),
      write('create a project', ['POST', list, '201'], 'projects'),
      write('change a project', ['PATCH', project], 'projects', (number) => ({
        description: `changed ${number}`,
      })),
      send(
        'delete a project',
        '204',
        projectIds.slice(1, WRITES + 1).map((id) => ['DELETE', `/projects/${id}`]),
      ),
    ]
  },
}

export const outputs: Dimension = {
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
        read('last page', lastPageOf(list, size)),
        read('show the state version', `/state-versions/${version}`),
        read('current outputs, all', `/workspaces/${workspaceId}/current-state-version-outputs`, 'answer'),
      ]
    }
  },
}

export const stateVersions: Dimension = {
  name: 'state versions',
  sizes: [10, 100, 1_000, 10_000],
  make: async (database, size) => {
    const { organization, workspaceId, newestId } = await withStateVersions(database, size)
    const read = readsOf(organization.owner.token)
    const list = `${filtered('/state-versions', 'filter[organization][name]', organization.name)}&filter%5Bworkspace%5D%5Bname%5D=alone`
    const send = sentBy(organization.owner.token)
    return async (purser) => {
      await purser.must('POST', `/workspaces/${workspaceId}/actions/lock`, organization.owner.token, {})
      const states = Array.from({ length: WRITES }, (_, number) => smallState(size + 1 + number, 20))
      return [
        read('show a state version', `/state-versions/${newestId}`),
        read('show the current one', `/workspaces/${workspaceId}/current-state-version`),
        read('show the workspace', `/workspaces/${workspaceId}`),
        read('first page', list, 'counts'),
        send(
          'push a state',
          '201',
          states.map((file) => ['POST', `/workspaces/${workspaceId}/state-versions`, pushBody(file)]),
        ),
      ]
    }
  },
}
