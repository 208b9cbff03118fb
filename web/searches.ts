// What the addresses of pages carry behind the question mark.
import type { AccessQuestion } from './access/access-grants-query.ts'
import type { AuditFilter } from './audit/audit-page.tsx'

type Comparison = { version?: string | undefined; since?: string | undefined; page?: number }
type AuditSearch = AuditFilter & { page?: number }
type Holders = { q?: string; may?: string; who?: 'teams'; page?: number }
type Question = AccessQuestion & { page?: number }

/** A search text and a page in the address; neither if they are as at the beginning. */
export const searched = ({ q, page }: { q?: unknown; page?: unknown }): { q?: string; page?: number } => ({
  ...(typeof q === 'string' && q !== '' ? { q } : {}),
  ...(typeof page === 'number' && page > 1 ? { page } : {}),
})

/** The texts among the parameters of an address. */
export function named<Name extends string>(given: Record<Name, unknown>): { [N in Name]?: string } {
  const texts: { [N in Name]?: string } = {}
  for (const name in given) {
    const value = given[name]
    if (typeof value === 'string' && value !== '') texts[name] = value
  }
  return texts
}

type Given = Record<string, unknown>

export const comparison = ({ version, since, page }: Given): Comparison => ({
  ...named({ version, since }),
  ...searched({ page }),
})

export const auditSearch = ({
  actor,
  action,
  resource,
  request,
  output,
  address,
  page,
}: Given): AuditSearch => ({
  ...named({ actor, action, resource, request, output, address }),
  ...searched({ page }),
})

/** Who may do what on a workspace or project: teams or, without `who`, people. */
export const holders = ({ q, may, who, page }: Given): Holders => ({
  ...named({ may }),
  ...(who === 'teams' ? { who } : {}),
  ...searched({ q, page }),
})

export const question = ({ user, team, workspace, project, page }: Given): Question => ({
  ...named({ user, team, workspace, project }),
  ...searched({ page }),
})
