import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Answers } from '../access/access-page.tsx'
import type { One } from '../api/client.ts'
import { isStatus } from '../api/errors.ts'
import { accountQuery } from '../api/session.ts'
import { Table } from '../kit/table.tsx'
import styles from '../kit/kit.module.css'
import { Offer, WhoMay } from '../kit/offer.tsx'
import { PagedTable } from '../kit/paged-table.tsx'
import { Answered, Empty } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { organizationQuery } from '../organizations/organizations-query.ts'
import { tokensQuery } from '../tokens/tokens-query.ts'
import { PersonRow } from './people-page.tsx'
import { nameOf, personQuery, teamsOf, userOf, type Membership, type WithIncluded } from './people-query.ts'

const FROM = '/shell/$organization/people/$person'

/** One person of an organization: status, teams, access, and the ages of their tokens. */
export function PersonPage() {
  const { organization, person: id } = useParams({ from: FROM })
  const person = useQuery(personQuery(id))
  const { data } = person
  if (data !== undefined && isStatus(person.error, 404)) {
    return (
      <>
        <h1 dir="auto">{nameOf(data, data.data)}</h1>
        <Empty>
          Not in the organization any more.{' '}
          <Link to="/$organization/people" params={{ organization }}>
            Back to all people
          </Link>
        </Empty>
      </>
    )
  }
  return (
    <>
      <h1 dir="auto">{data === undefined ? 'Person' : nameOf(data, data.data)}</h1>
      <Answered query={person}>
        {(answer) => (
          // A person who is known already is shown at once: nothing of the one before may stay.
          <Person key={answer.data.id} answer={answer} organization={organization} />
        )}
      </Answered>
    </>
  )
}

function Person({
  answer,
  organization,
}: {
  readonly answer: One<Membership> & WithIncluded
  readonly organization: string
}) {
  const { data: person } = answer
  const user = userOf(answer, person)
  const teams = teamsOf(answer, person)
  const isActive = person.attributes.status === 'active'
  return (
    <>
      <p>
        <span dir="auto">{person.attributes.email}</span> · {isActive ? 'a member' : 'invited'} since{' '}
        <Time at={person.attributes['created-at']} />
      </p>
      <Table columns={['Person', 'Status', 'Teams', 'Actions']}>
        <PersonRow person={person} people={answer} organization={organization} />
      </Table>
      <h2>Teams</h2>
      {teams.length === 0 ? (
        <p className={styles.dim}>
          In no team that you may see. A person gets access by being in a team: add them on the Members tab of
          one.
        </p>
      ) : (
        <ul>
          {teams.map((team) => (
            <li key={team.id} dir="auto">
              <Link to="/$organization/settings/teams/$team" params={{ organization, team: team.id }}>
                {team.name}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {user === undefined || !isActive ? null : (
        <>
          <Access organization={organization} userId={user.id} username={nameOf(answer, person)} />
          <Offer
            may={user.attributes.permissions?.['can-manage-user-tokens'] === true}
            who="A site administrator, and the person,"
            to="see the ages of their tokens"
          >
            <TokenAges userId={user.id} />
          </Offer>
        </>
      )}
    </>
  )
}

/** What the person may do, for owners and for the person. Others are refused the answer, so they are not asked. */
function Access({
  organization,
  userId,
  username,
}: {
  readonly organization: string
  readonly userId: string
  readonly username: string
}) {
  const { page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/people/$person' })
  const account = useQuery(accountQuery)
  const place = useQuery(organizationQuery(organization))
  const isOwner = place.data?.data.attributes.permissions['can-update'] === true
  if (place.data === undefined || account.data === undefined) return null
  if (!isOwner && account.data.data.id !== userId)
    return <WhoMay who="An owner, and the person," to="see what the person may do" />
  return (
    <>
      <h2>Access</h2>
      <Answers
        organization={organization}
        question={{ user: username }}
        page={page}
        onShow={(number) => void navigate({ search: { page: number } })}
      />
    </>
  )
}

function TokenAges({ userId }: { readonly userId: string }) {
  const [page, setPage] = useState(1)
  const tokens = useQuery(tokensQuery(`/users/${userId}/authentication-tokens`, page))
  return (
    <>
      <h2>Tokens</h2>
      <PagedTable
        query={tokens}
        columns={['Token', 'Made', 'Last used', 'Expires']}
        empty="They have no tokens of their own."
        page={page}
        onShow={setPage}
      >
        {({ data }) =>
          data.map(({ id, attributes }) => (
            <tr key={id}>
              <th scope="row" dir="auto">
                {attributes.description ?? id}
              </th>
              {[attributes['created-at'], attributes['last-used-at'], attributes['expired-at']].map(
                (at, column) => (
                  <td key={column}>
                    <Time at={at} />
                  </td>
                ),
              )}
            </tr>
          ))
        }
      </PagedTable>
    </>
  )
}
