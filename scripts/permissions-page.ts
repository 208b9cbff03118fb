import { columns, rules, type Cell, type Column, type Permission } from '../src/access/rules.ts'
import { routes } from '../src/app.ts'
import { permissionWords } from '../src/refusals/permission-words.ts'
import { columnWords } from '../src/refusals/refusal-text.ts'

/** The conditions of src/access/rules.ts in words. */
const conditions: Readonly<Record<Exclude<Cell, 'Y'>, string>> = {
  v: 'for teams that the caller can see, and never for the team `owners`',
  s: 'for what is their own',
  seen: 'for teams that the caller can see',
  own: 'for grants of their own teams',
  both: 'for users who are active in an organization together with them',
  Y6: 'for every team but `owners`',
  Y7: 'as a person, while the team has `allow-member-token-management`',
  v5: 'for teams that the caller can see and that are [no stronger than they are](access.md#delegates), never for the team `owners`',
  v3: 'if each team of that user is one that they may change members of',
}

/** The columns of the table that have the permission, grouped by condition. */
function holdersOf(permission: Permission): string {
  const cells = rules[permission].split(/\s+/)
  const groups = Map.groupBy(
    columns.filter((_, place) => !['.', '-'].includes(cells[place] as string)),
    (column) => cells[columns.indexOf(column)] as Cell,
  )
  return [...groups]
    .map(([cell, held]) => {
      const names = held.map((column: Column) => columnWords[column]).join(' · ')
      return `- **Who${cell === 'Y' ? '' : `, ${conditions[cell]}`}:** ${names}`
    })
    .join('\n')
}

/** docs/reference/permissions.md, from the table that the server decides by. */
export function permissionsPage(): string {
  const sections = (Object.keys(rules) as Permission[]).map((permission) => {
    const asked = routes.filter((route) => 'permission' in route && route.permission === permission)
    const list = asked.map(({ method, path }) => `\`${method} ${path}\``).join(', ')
    return `<a id="${permission.replace(':', '-')}"></a>

### ${permission}

Lets a caller ${permissionWords[permission]}.

${holdersOf(permission)}
- **Routes:** ${list === '' ? '(asked beside the permission of a route)' : list}
`
  })
  return `# Permissions

<!-- Printed from src/access/rules.ts by npm run docs; a test fails when this page is not what it prints. -->

Each route asks for one permission. A caller has it if at least one entry after "Who" applies to the caller. Roles and grants add up: none of them takes a right away.
Everybody else gets the [404 of a missing object](wire.md#errors). [Access](access.md) has the rules that go with this table: owners, delegates, tokens of
teams, levels. The [matrix](../access-matrix.txt) shows the answer to every kind of caller on every route.

Levels of a project count on each of its workspaces. A [team's token](access.md#team-token) and a [token for audit trails](tokens.md#organization-tokens) may do less. manage-teams and manage-organization-access count only where the organization has switched on
[\`delegated-team-management\`](access.md#delegates).

Held by \`test/access-matrix.test.ts\`, against rules that are written a second time in \`test/data/access-table.txt\`.

${sections.join('\n')}`
}
