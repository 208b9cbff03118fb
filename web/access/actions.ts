import type { EffectiveAccess } from './access-grants-query.ts'

/** The actions on a workspace, in plain words, and the permission that decides each. A test compares them with the server. */
export const workspaceActions = {
  'read-workspace': ['see the workspace', 'workspace:read'],
  'read-current-outputs': ['read current outputs, sensitive ones hidden', 'outputs:read-current'],
  'read-outputs': ['read outputs with their real values', 'outputs:read'],
  'read-state': ['read states', 'state-version:read'],
  'write-state': ['store states', 'state-version:create'],
  lock: ['lock and unlock', 'workspace:lock'],
  'force-unlock': ['take away somebody else’s lock', 'workspace:force-unlock'],
  'manage-workspace': ['change or delete the workspace', 'workspace:manage'],
  'manage-team-access': ['share the workspace with teams', 'team-access:manage'],
  'manage-state-content': ['delete or restore the content of states', 'state-content:manage'],
} as const

/** The actions on a project itself. */
export const projectActions = {
  'read-project': ['see the project', 'project:read'],
  'create-workspaces': ['create workspaces in it', 'workspace:create'],
  'manage-project': ['change or delete the project', 'project:manage'],
  'manage-team-access': ['share the project with teams', 'project-access:manage'],
} as const

type Kind = 'workspaces' | 'projects'
type Action = { readonly name: string; readonly words: string; readonly permission: string }

const ofWorkspace: readonly Action[] = Object.entries(workspaceActions).map(
  ([name, [words, permission]]) => ({
    name,
    words,
    permission,
  }),
)
const ofProject: readonly Action[] = [
  ...Object.entries(projectActions).map(([name, [words, permission]]) => ({ name, words, permission })),
  ...ofWorkspace.map(({ name, words, permission }) => ({
    name: `workspaces/${name}`,
    words: `in its workspaces: ${words}`,
    permission,
  })),
]

/** All actions on a workspace or a project, by the names that the server takes. */
export const actionsOn: Readonly<Record<Kind, readonly Action[]>> = {
  workspaces: ofWorkspace,
  projects: ofProject,
}

/** The answers of effective access by the same names, those about a project's workspaces included. */
export function allowedIn({
  may,
  'may-in-workspaces': inside = {},
}: Pick<EffectiveAccess, 'may' | 'may-in-workspaces'>): Readonly<Record<string, boolean>> {
  const ofInside = Object.entries(inside).map(([action, isAllowed]) => [`workspaces/${action}`, isAllowed])
  return { ...may, ...Object.fromEntries(ofInside) }
}

export function wordsOf(on: Kind, name: string): string {
  return actionsOn[on].find((action) => action.name === name)?.words ?? name
}
