import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { AskLink } from '../access/ask-link.tsx'
import { AccessPreview } from '../access/access-preview.tsx'
import { useAccessChange } from '../access/use-access-change.ts'
import { useChange } from '../api/change.ts'
import { inOrganization, request, resource, type Resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Checked } from '../kit/checked.tsx'
import { Field } from '../kit/field.tsx'
import { Form } from '../kit/form.tsx'
import styles from '../kit/kit.module.css'
import { Offer } from '../kit/offer.tsx'
import { SearchedTable, type Search } from '../kit/searched-table.tsx'
import { Failed } from '../kit/states.tsx'
import { organizationQuery } from '../organizations/organizations-query.ts'
import {
  membersOfOrganizationQuery,
  nameOf,
  teamsOf,
  type Membership,
  type WithIncluded,
} from './people-query.ts'

const FROM = '/shell/$organization/people'

/** The people of an organization, and those who are invited. */
export function PeoplePage() {
  const { organization } = useParams({ from: FROM })
  const { q = '', page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/people' })
  const show = (search: Search) => void navigate({ search, replace: true })
  const people = useQuery(membersOfOrganizationQuery(organization, q, page))
  const place = useQuery(organizationQuery(organization))
  const mayInvite = place.data?.data.attributes.permissions['can-manage-users']
  return (
    <>
      <h1>People</h1>
      <Offer may={mayInvite} who="An owner, or a team with manage-membership," to="invite people">
        <Invite organization={organization} />
      </Offer>
      <SearchedTable
        label="Find people by name or email"
        q={q}
        query={people}
        columns={['Person', 'Status', 'Teams', 'Actions']}
        isCounted
        empty="There is nobody yet."
        unmatched={`Nobody matches “${q}”.`}
        page={page}
        onShow={show}
      >
        {(found) =>
          found.data.map((one) => (
            <PersonRow key={one.id} person={one} people={found} organization={organization} />
          ))
        }
      </SearchedTable>
    </>
  )
}

/** A person in the table of people, with the way to remove them. */
export function PersonRow({
  person,
  people,
  organization,
}: {
  readonly person: Resource<Membership>
  readonly people: WithIncluded
  readonly organization: string
}) {
  const [isAsked, setAsked] = useState(false)
  const [endsTokens, setEndsTokens] = useState(false)
  const removal = { method: 'DELETE', path: `/organization-memberships/${person.id}` }
  const remove = useAccessChange()
  const name = nameOf(people, person)
  const isActive = person.attributes.status === 'active'
  return (
    <tr>
      <th scope="row" dir="auto">
        <Link to="/$organization/people/$person" params={{ organization, person: person.id }}>
          {name}
        </Link>
      </th>
      <td>{isActive ? 'active' : 'invited'}</td>
      <td dir="auto">
        {teamsOf(people, person)
          .map((team) => team.name)
          .join(', ') || '–'}
      </td>
      <td>
        {isAsked ? (
          <div role="group" aria-label={`Remove ${name}`}>
            {isActive ? 'They lose all access in the organization. ' : 'The invitation ends. '}
            {isActive ? (
              <AccessPreview change={removal} doing="remove them" onEndTokens={setEndsTokens} />
            ) : null}
            <Button onClick={() => setAsked(false)}>Keep</Button>{' '}
            <Button
              kind="main"
              disabled={remove.isPending}
              onClick={() => remove.mutate({ ...removal, endsTokens })}
            >
              {isActive ? 'Remove from the organization' : 'Withdraw the invitation'}
            </Button>
          </div>
        ) : (
          <Button aria-label={`Remove ${name} …`} onClick={() => setAsked(true)}>
            Remove …
          </Button>
        )}{' '}
        {isActive ? (
          <AskLink organization={organization} question={{ user: name }}>
            What {name} may do
          </AskLink>
        ) : null}
        {remove.isError ? <Failed error={remove.error} /> : null}
      </td>
    </tr>
  )
}

function Invite({ organization }: { readonly organization: string }) {
  const queries = useQueryClient()
  const invite = useChange({
    mutationFn: (email: string) =>
      request(inOrganization(organization, 'organization-memberships'), {
        method: 'POST',
        body: resource('organization-memberships', { email }),
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['memberships'] }),
  })
  return (
    <Form
      className={styles.inline}
      aria-label="Invite"
      onSubmit={(textOf, empty) => invite.mutate(textOf('email'), { onSuccess: empty })}
    >
      <Checked error={invite.error}>
        <Field label="Invite by email" name="email" type="email" required />
        <Button type="submit" kind="main" disabled={invite.isPending}>
          Invite
        </Button>
        <p role="status">
          {invite.isSuccess
            ? `${invite.variables} is invited. Purser sends no mail, so tell them. Somebody without an account needs an invitation link from a site administrator.`
            : ''}
        </p>
      </Checked>
    </Form>
  )
}
