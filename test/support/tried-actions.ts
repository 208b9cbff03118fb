import { expect } from 'vitest'
import type { projectActions, workspaceActions } from '../../src/effective-access/levels.ts'
import type { Client, Response } from './client.ts'
import { body, grantBody, inProject } from './world.ts'

const noTeam = 'team-zzzzzzzzzzzzzzzz'
const isThere = ({ status }: Response) => status !== 404

/** Whether the caller may give access to this place. If so, only the missing team in the request is a problem. */
async function mayShare(client: Client, kind: 'workspace' | 'project', id: string): Promise<boolean> {
  const answer = await client.post(`/team-${kind}s`, grantBody(noTeam, kind, id))
  expect([404, 422]).toContain(answer.status)
  return isThere(answer)
}

export type TriedPlace = { workspace: string; workspaceName: string; stateVersion: string }

/** Shows by requests what a user may do. A permitted request is refused for another reason, or changes nothing. */
export const workspaceRequests: Record<
  keyof typeof workspaceActions,
  (client: Client, place: TriedPlace) => Promise<boolean>
> = {
  'read-workspace': async (client, { workspace }) => isThere(await client.get(`/workspaces/${workspace}`)),
  'read-current-outputs': async (client, { workspace }) =>
    isThere(await client.get(`/workspaces/${workspace}/current-state-version-outputs`)),
  'read-outputs': async (client, { stateVersion }) =>
    isThere(await client.get(`/state-versions/${stateVersion}/outputs`)),
  'read-state': async (client, { stateVersion }) =>
    isThere(await client.get(`/state-versions/${stateVersion}/download`)),
  'write-state': async (client, { workspace }) =>
    isThere(
      await client.post(
        `/workspaces/${workspace}/state-versions`,
        body('state-versions', { serial: 2, md5: 'd41d8cd98f00b204e9800998ecf8427e' }),
      ),
    ),
  lock: async (client, { workspace }) =>
    isThere(await client.post(`/workspaces/${workspace}/actions/unlock`)),
  'force-unlock': async (client, { workspace }) =>
    isThere(await client.post(`/workspaces/${workspace}/actions/force-unlock`)),
  'manage-workspace': async (client, { workspace }) =>
    isThere(await client.patch(`/workspaces/${workspace}`, body('workspaces', {}))),
  'manage-state-content': async (client, { stateVersion }) =>
    isThere(await client.post(`/state-versions/${stateVersion}/actions/restore_backing_data`)),
  'manage-team-access': (client, { workspace }) => mayShare(client, 'workspace', workspace),
}

export const projectRequests: Record<
  keyof typeof projectActions,
  (client: Client, project: string, path: string, takenName: string) => Promise<boolean>
> = {
  'read-project': async (client, project) => isThere(await client.get(`/projects/${project}`)),
  'manage-project': async (client, project) =>
    isThere(await client.patch(`/projects/${project}`, body('projects', {}))),
  'create-workspaces': async (client, project, path, name) => {
    const relationships = inProject(project)
    const answer = await client.post(`${path}/workspaces`, body('workspaces', { name }, relationships))
    expect([404, 422]).toContain(answer.status)
    return answer.json.errors[0].source?.pointer === '/data/attributes/name'
  },
  'manage-team-access': (client, project) => mayShare(client, 'project', project),
}
