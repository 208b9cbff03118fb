import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { organizationQuery } from '../organizations/organizations-query.ts'
import type { AccessQuestion } from './access-grants-query.ts'

/** Whether the caller may ask what others may do. Undefined until it is known. */
export function useMayAsk(organization: string): boolean | undefined {
  return useQuery(organizationQuery(organization)).data?.data.attributes.permissions[
    'can-read-effective-access'
  ]
}

/** Leads to what somebody may do. Nothing for those who may not ask about others. */
export function AskLink({
  organization,
  question,
  children,
}: {
  readonly organization: string
  readonly question: AccessQuestion
  readonly children: ReactNode
}) {
  if (useMayAsk(organization) !== true) return null
  return (
    <Link to="/$organization/access" params={{ organization }} search={question}>
      {children}
    </Link>
  )
}
