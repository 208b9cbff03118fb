/** The permissions in words. What the server knows and is not here is shown by its name. */
export const permissionGroups: readonly (readonly [
  title: string,
  words: Readonly<Record<string, string>>,
])[] = [
  [
    'Workspaces and projects',
    {
      'manage-projects': 'create, change, delete and share projects; includes manage-workspaces',
      'manage-workspaces': 'admin on every workspace; includes read-workspaces',
      'read-projects': 'see all projects; includes read-workspaces',
      'read-workspaces': 'states and outputs of every workspace, with their real values',
    },
  ],
  [
    'People and teams',
    {
      'manage-membership': 'invite and remove people',
      'manage-teams': 'change teams; only where the organization delegates team management',
      'manage-organization-access': 'also give teams permissions; only where team management is delegated',
      'access-secret-teams': 'see secret teams',
      'read-audit': 'read the audit trail and why requests were refused',
    },
  ],
]

const explained = new Set(permissionGroups.flatMap(([, words]) => Object.keys(words)))

/** The permissions that are kept for other clients and rule nothing here. */
export function keptOnly(flags: Readonly<Record<string, boolean>>): string[] {
  return Object.keys(flags).filter((flag) => !explained.has(flag))
}

/** The permissions that are given and rule something here. */
export function grantedFlags(flags: Readonly<Record<string, boolean>>): string[] {
  return [...explained].filter((flag) => flags[flag] === true)
}
