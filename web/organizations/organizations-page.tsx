import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import { related, request, resource, type Resource } from '../api/client.ts'
import { accountQuery } from '../api/session.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { NewForm } from '../kit/new-form.tsx'
import { Offer } from '../kit/offer.tsx'
import { Pager } from '../kit/pager.tsx'
import { Answered, Empty, Failed, Loading } from '../kit/states.tsx'
import { Table } from '../kit/table.tsx'
import { ownInvitationsQuery, type Membership } from '../people/people-query.ts'
import { organizationsQuery } from './organizations-query.ts'

/** One's organizations, and the invitations that wait. */
export function OrganizationsPage() {
  const [page, setPage] = useState(1)
  const organizations = useQuery(organizationsQuery(page))
  const waiting = useQuery(ownInvitationsQuery)
  const invitations = waiting.data ?? []
  const { home } = useSearch({ from: '/shell/' })
  const account = useQuery(accountQuery).data?.data.attributes
  const mayCreate = account?.permissions['can-create-organizations'] === true
  const hasNothing = page === 1 && organizations.data?.data.length === 0 && invitations.length === 0
  const [first, ...others] = organizations.data?.data ?? []
  if (home === true) {
    if (waiting.isPending || organizations.isPending) return <Loading />
    // There is nothing to choose.
    if (first !== undefined && others.length === 0 && invitations.length === 0)
      return <Navigate to="/$organization/workspaces" params={{ organization: first.id }} replace />
    // Who accepts an invitation then stays here.
    return <Navigate to="/" replace />
  }
  return (
    <>
      <h1>Organizations</h1>
      {invitations.map((invitation) => (
        <Invitation key={invitation.id} invitation={invitation} />
      ))}
      {hasNothing ? (
        <Empty>
          You are in no organization yet. Ask an owner of one to invite you
          {mayCreate ? ', or create one of your own.' : '.'}
        </Empty>
      ) : null}
      <Answered query={organizations}>
        {({ data, meta: { pagination } }) => (
          <>
            {data.length === 0 ? null : (
              <Table columns={['Name', 'Email of its owners']}>
                {data.map(({ id, attributes: { email } }) => (
                  <tr key={id}>
                    <th scope="row">
                      <Link to="/$organization/workspaces" params={{ organization: id }}>
                        {id}
                      </Link>
                    </th>
                    <td>{email}</td>
                  </tr>
                ))}
              </Table>
            )}
            <Pager
              page={page}
              pagination={pagination}
              isBusy={organizations.isPlaceholderData}
              onShow={setPage}
            />
          </>
        )}
      </Answered>
      <Offer may={account && mayCreate} who="An administrator of this site" to="create an organization">
        <NewOrganization isFirst={hasNothing} />
      </Offer>
    </>
  )
}

function Invitation({ invitation }: { readonly invitation: Resource<Membership> }) {
  const queries = useQueryClient()
  const organization = related(invitation, 'organization')?.id ?? ''
  const answer = useChange({
    mutationFn: (isAccepted: boolean) =>
      isAccepted
        ? request(`/organization-memberships/${invitation.id}/actions/accept`, { method: 'POST' })
        : request(`/organization-memberships/${invitation.id}`, { method: 'DELETE' }),
    onSuccess: () => queries.invalidateQueries(),
  })
  return (
    <div className={styles.notice} role="group" aria-label={`Invitation to ${organization}`}>
      <p>
        You are invited to <strong dir="auto">{organization}</strong>.
      </p>
      <Button kind="main" disabled={answer.isPending} onClick={() => answer.mutate(true)}>
        Accept
      </Button>{' '}
      <Button disabled={answer.isPending} onClick={() => answer.mutate(false)}>
        Decline
      </Button>
      {answer.isError ? <Failed error={answer.error} /> : null}
    </div>
  )
}

function NewOrganization({ isFirst }: { readonly isFirst: boolean }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const make = useChange({
    mutationFn: (attributes: { name: string; email: string }) =>
      request('/organizations', { method: 'POST', body: resource('organizations', attributes) }),
    onSuccess: async (_, { name: organization }) => {
      await queries.invalidateQueries()
      await navigate({ to: '/$organization/workspaces', params: { organization } })
    },
  })
  return (
    <NewForm
      title="New organization"
      creation={make}
      isOpen={isFirst}
      onSubmit={(textOf) => make.mutate({ name: textOf('name'), email: textOf('email') })}
    >
      <Field label="Name" name="name" required />
      <Field label="Email of its owners" name="email" type="email" required />
    </NewForm>
  )
}
