import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { AccessPreview } from '../access/access-preview.tsx'
import { memberChange } from '../access/grant-changes.ts'
import { useAccessChange } from '../access/use-access-change.ts'
import type { Resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import { Form } from '../kit/form.tsx'
import styles from '../kit/kit.module.css'
import { Offer } from '../kit/offer.tsx'
import { PagedTable } from '../kit/paged-table.tsx'
import { Answered, Failed, foundInWords } from '../kit/states.tsx'
import { isIn, nameOf, type Membership } from '../people/people-query.ts'
import { membersQuery, peopleQuery, teamQuery } from './team-query.ts'

const FROM = '/shell/$organization/settings/teams/$team/'

const CHANGE = 'add and remove people'

type Named = { readonly member: Resource<Membership>; readonly name: string }
type Doing = 'add' | Named

/** The people in a team. */
export function TeamMembersPage() {
  const { organization, team: teamId } = useParams({ from: FROM })
  const [page, setPage] = useState(1)
  const [doing, setDoing] = useState<Doing>()
  const team = useQuery(teamQuery(teamId))
  const members = useQuery(membersQuery(teamId, page))
  const mayChange = team.data?.data.attributes.permissions['can-update-membership']
  const done = () => setDoing(undefined)
  return (
    <>
      <Offer may={mayChange} who="An owner" to={CHANGE}>
        <p>
          <Button kind="main" onClick={() => setDoing('add')}>
            Add people
          </Button>
        </p>
      </Offer>
      {doing === 'add' ? <AddPeople organization={organization} teamId={teamId} onDone={done} /> : null}
      {doing === undefined || doing === 'add' ? null : (
        <RemoveMember key={doing.member.id} {...doing} teamId={teamId} onDone={done} />
      )}
      <PagedTable
        query={members}
        columns={['Person', 'Status', 'Actions']}
        isCounted
        empty="Nobody is in this team yet. People get its access by being in it."
        page={page}
        onShow={setPage}
      >
        {(found) =>
          found.data.map((member) => (
            <MemberRow
              key={member.id}
              member={member}
              name={nameOf(found, member)}
              mayChange={mayChange === true}
              onRemove={setDoing}
            />
          ))
        }
      </PagedTable>
    </>
  )
}

function MemberRow({
  member,
  name,
  mayChange,
  onRemove,
}: Named & { readonly mayChange: boolean; readonly onRemove: (removed: Named) => void }) {
  return (
    <tr>
      <th scope="row" dir="auto">
        {name}
      </th>
      <td>{member.attributes.status === 'active' ? 'active' : 'invited, counts when accepted'}</td>
      <td>
        {mayChange ? (
          <Button
            data-offer={CHANGE}
            aria-label={`Remove ${name}`}
            onClick={() => onRemove({ member, name })}
          >
            Remove
          </Button>
        ) : null}
      </td>
    </tr>
  )
}

function RemoveMember({
  member,
  name,
  teamId,
  onDone,
}: Named & { readonly teamId: string; readonly onDone: () => void }) {
  const save = useAccessChange(onDone)
  const change = memberChange('DELETE', teamId, [member.id])
  return (
    <div role="group" aria-label={`Remove ${name} from the team`}>
      <h2>Remove {name} from the team</h2>
      <AccessPreview change={change} doing="remove them" />
      {save.isError ? <Failed error={save.error} /> : null}
      <p>
        <Button autoFocus onClick={onDone}>
          Keep
        </Button>{' '}
        <Button kind="main" disabled={save.isPending} onClick={() => save.mutate(change)}>
          Remove from the team
        </Button>
      </p>
    </div>
  )
}

/** Finds people of the organization, several at once, and shows what they gain. */
function AddPeople({
  organization,
  teamId,
  onDone,
}: {
  readonly organization: string
  readonly teamId: string
  readonly onDone: () => void
}) {
  const [q, setQ] = useState('')
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map())
  const people = useQuery({
    ...peopleQuery(organization, q),
    // Who is in the team already cannot be added.
    select: (found) => ({ ...found, data: found.data.filter((one) => !isIn(teamId, one)) }),
  })
  const save = useAccessChange(onDone)
  const change = chosen.size === 0 ? undefined : memberChange('POST', teamId, [...chosen.keys()])
  const toggle = (id: string, name: string) => {
    const next = new Map(chosen)
    if (!next.delete(id)) next.set(id, name)
    setChosen(next)
  }
  const submit = () => {
    if (change !== undefined) save.mutate(change)
  }
  return (
    <Form aria-label="Add people" onSubmit={submit}>
      <h2>Add people</h2>
      <Field
        label="Find people by name or email"
        type="search"
        value={q}
        autoFocus
        onChange={(event) => setQ(event.target.value)}
      />
      <p role="status" className={styles.unseen}>
        {people.data === undefined ? '' : foundInWords(people.data.meta.pagination['total-count'])}
      </p>
      <Answered
        query={people}
        isEmpty={({ data }) => data.length === 0}
        empty={q === '' ? 'Everybody found is in the team.' : `Nobody who matches “${q}” can be added.`}
      >
        {(found) => (
          <fieldset className={styles.choices}>
            <legend>People</legend>
            {found.data.map((one) => {
              const name = nameOf(found, one)
              return (
                <label key={one.id}>
                  <input type="checkbox" checked={chosen.has(one.id)} onChange={() => toggle(one.id, name)} />{' '}
                  <span dir="auto">{name}</span>
                </label>
              )
            })}
            {found.meta.pagination['next-page'] === null ? null : (
              <span className={styles.dim}>and more: type a part of the name</span>
            )}
          </fieldset>
        )}
      </Answered>
      {chosen.size === 0 ? null : <p>Chosen: {[...chosen.values()].join(', ')}</p>}
      {change === undefined ? null : <AccessPreview change={change} doing="add them" />}
      {save.isError ? <Failed error={save.error} /> : null}
      <p>
        <Button onClick={onDone}>Discard</Button>{' '}
        <Button type="submit" kind="main" disabled={change === undefined || save.isPending}>
          Add
        </Button>
      </p>
    </Form>
  )
}
