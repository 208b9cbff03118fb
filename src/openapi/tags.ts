import { existing } from '../core/existing.ts'

/** The groups of operations. A path belongs to the first group that it matches. */
export const tags: readonly { name: string; description: string; paths: RegExp }[] = [
  {
    name: 'Outputs',
    description: 'The output values of stored states',
    paths: /outputs/,
  },
  {
    name: 'State versions',
    description: 'Stored states: upload, download, rollback and deletion of their content',
    paths: /state-version|\/upload|json-state/,
  },
  { name: 'Tokens', description: 'Tokens of users, teams and organizations', paths: /token/ },
  {
    name: 'Team access',
    description: 'The access of teams to workspaces and projects, and the access that it adds up to',
    paths: /team-workspaces|team-projects|effective-access/,
  },
  { name: 'Teams', description: 'Teams, their members and their permissions', paths: /\/teams/ },
  { name: 'Tags', description: 'Tags of workspaces, and key-value tags', paths: /tag/ },
  { name: 'Audit', description: 'The audit trail, and why requests were refused', paths: /audit|refusals/ },
  { name: 'Memberships', description: 'Who belongs to an organization', paths: /organization-memberships/ },
  { name: 'Projects', description: 'Projects, and the workspaces in them', paths: /\/projects/ },
  { name: 'Workspaces', description: 'Workspaces and their locks', paths: /\/workspaces/ },
  { name: 'Users', description: 'Accounts, and their administration', paths: /\/users|\/account|\/sessions/ },
  { name: 'Organizations', description: 'Organizations and what they allow', paths: /\/organizations/ },
  { name: 'Service', description: 'Health, discovery and this description', paths: /./ },
]

/** The group of an operation. */
export function tagOf(path: string): string {
  return existing(tags.find(({ paths }) => paths.test(path))).name
}
