import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery } from '../api/session.ts'
import { Button } from '../kit/button.tsx'
import type { Chosen } from '../kit/choice.tsx'
import styles from '../kit/kit.module.css'
import { Offer } from '../kit/offer.tsx'
import { PagedTable } from '../kit/paged-table.tsx'
import { Failed } from '../kit/states.tsx'
import { accessGrantsQuery, effectiveAccessQuery, type Grant } from './access-grants-query.ts'
import { AccessPreview } from './access-preview.tsx'
import { AskLink } from './ask-link.tsx'
import { changedGrant, newGrant, type GrantPlace } from './grant-changes.ts'
import { GrantForm } from './grant-form.tsx'
import { choiceNames } from './levels.ts'
import { PlaceHolders } from './place-holders.tsx'
import { TeamChoice } from './team-choice.tsx'
import { useAccessChange } from './use-access-change.ts'

const CHANGE = 'see all access here, and change it'

type Doing = { readonly what: 'give' } | { readonly what: 'change' | 'take away'; readonly grant: Grant }

/** Which teams have access to a workspace or a project, and by which grants. */
export function PlaceAccess({
  organization,
  place,
}: {
  readonly organization: string
  readonly place: GrantPlace
}) {
  const kind = place.type === 'workspaces' ? 'workspace' : 'project'
  const [page, setPage] = useState(1)
  const [doing, setDoing] = useState<Doing>()
  const account = useQuery(accountQuery)
  const own = useQuery({
    ...effectiveAccessQuery(organization, { user: account.data?.data.id, [kind]: place.id }),
    enabled: account.data !== undefined,
  })
  const grants = useQuery(accessGrantsQuery(place.type, place.id, page))
  const may = own.data?.data[0]?.attributes.may
  const mayShare = may?.['manage-team-access'] === true
  const done = () => setDoing(undefined)
  return (
    <>
      <Offer may={may && mayShare} who={`An admin of the ${kind}`} to={CHANGE}>
        <p>
          <Button kind="main" onClick={() => setDoing({ what: 'give' })}>
            Give access
          </Button>
        </p>
      </Offer>
      {doing?.what === 'give' ? <GiveAccess organization={organization} place={place} onDone={done} /> : null}
      {doing?.what === 'change' ? (
        <ChangeAccess key={doing.grant.id} grant={doing.grant} onDone={done} />
      ) : null}
      {doing?.what === 'take away' ? (
        <TakeAway key={doing.grant.id} grant={doing.grant} onDone={done} />
      ) : null}
      <PagedTable
        query={grants}
        columns={['Team', 'Access', 'By', 'Actions']}
        empty="You can see no grant here. Owners have access without one."
        page={page}
        onShow={setPage}
      >
        {({ data }) =>
          data.map((grant) => (
            <GrantRow
              key={grant.id}
              grant={grant}
              organization={organization}
              isHere={grant.attributes.on.type === place.type}
              mayShare={mayShare}
              onDo={setDoing}
            />
          ))
        }
      </PagedTable>
      <PlaceHolders organization={organization} place={place} />
    </>
  )
}

function GrantRow({
  grant,
  organization,
  isHere,
  mayShare,
  onDo,
}: {
  readonly grant: Grant
  readonly organization: string
  /** Whether the grant is on the place itself. It may be on the project of a workspace. */
  readonly isHere: boolean
  readonly mayShare: boolean
  readonly onDo: (doing: Doing) => void
}) {
  const { team, level, gives, on } = grant.attributes
  const kind = on.type === 'workspaces' ? 'workspace' : 'project'
  return (
    <tr>
      <th scope="row" dir="auto">
        {team.name}
      </th>
      <td>
        <span className={styles.mono}>{level}</span>{' '}
        <span className={styles.dim}>{gives.length === 0 ? 'nothing' : gives.join(', ')}</span>
      </td>
      <td>
        {isHere ? (
          `a grant on the ${kind}`
        ) : (
          <>
            a grant on the {kind} {on.name}
          </>
        )}
      </td>
      <td>
        {isHere && mayShare ? (
          <>
            <Button
              data-offer={CHANGE}
              aria-label={`Change the access of ${team.name}`}
              onClick={() => onDo({ what: 'change', grant })}
            >
              Change
            </Button>{' '}
            <Button
              data-offer={CHANGE}
              aria-label={`Take away the access of ${team.name}`}
              onClick={() => onDo({ what: 'take away', grant })}
            >
              Take away
            </Button>
          </>
        ) : null}{' '}
        <AskLink organization={organization} question={{ team: team.id }}>
          All access of {team.name}
        </AskLink>
      </td>
    </tr>
  )
}

function GiveAccess({
  organization,
  place,
  onDone,
}: {
  readonly organization: string
  readonly place: GrantPlace
  readonly onDone: () => void
}) {
  const [team, setTeam] = useState<Chosen>()
  return (
    <GrantForm
      on={place.type}
      title="Give access"
      initial="read-outputs"
      gives={['read-outputs']}
      changeOf={(attributes) => team && newGrant(place, team.id, attributes)}
      onDone={onDone}
    >
      <TeamChoice organization={organization} chosen={team} onChoose={setTeam} />
    </GrantForm>
  )
}

function ChangeAccess({ grant, onDone }: { readonly grant: Grant; readonly onDone: () => void }) {
  const { team, level, gives, on } = grant.attributes
  const initial = choiceNames(on.type).find((name) => name === level) ?? 'custom'
  return (
    <GrantForm
      on={on.type}
      title={`Change the access of ${team.name}`}
      initial={initial}
      gives={gives}
      changeOf={(attributes) => changedGrant(on.type, grant.id, attributes)}
      onDone={onDone}
    />
  )
}

function TakeAway({ grant, onDone }: { readonly grant: Grant; readonly onDone: () => void }) {
  const { team, on } = grant.attributes
  const change = { method: 'DELETE', path: `/team-${on.type}/${grant.id}` }
  const take = useAccessChange(onDone)
  return (
    <div role="group" aria-label={`Take away the access of ${team.name}`}>
      <h2>Take away the access of {team.name}</h2>
      <AccessPreview change={change} doing="take it away" />
      {take.isError ? <Failed error={take.error} /> : null}
      <p>
        <Button autoFocus onClick={onDone}>
          Keep it
        </Button>{' '}
        <Button kind="main" disabled={take.isPending} onClick={() => take.mutate(change)}>
          Take away
        </Button>
      </p>
    </div>
  )
}
