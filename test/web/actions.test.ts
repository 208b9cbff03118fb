import { expect, test } from 'vitest'
import * as server from '../../src/effective-access/levels.ts'
import { actionsOn, projectActions, workspaceActions } from '../../web/access/actions.ts'

test('the pages have words for every action of the server, and the permission that decides it', () => {
  const permissionsOf = (actions: Record<string, readonly [string, string]>) =>
    Object.fromEntries(Object.entries(actions).map(([name, [, permission]]) => [name, permission]))
  expect(permissionsOf(workspaceActions)).toEqual(server.workspaceActions)
  expect(permissionsOf(projectActions)).toEqual(server.projectActions)
  const names = (on: 'workspaces' | 'projects') => actionsOn[on].map(({ name }) => name).toSorted()
  expect(names('workspaces')).toEqual(Object.keys(server.permissionsOn.workspace).toSorted())
  expect(names('projects')).toEqual(Object.keys(server.permissionsOn.project).toSorted())
})
