import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { Answered } from '../kit/states.tsx'
import { teamsQuery } from '../teams/teams-query.ts'

export type Chosen = { readonly id: string; readonly name: string }

/** Finds a team by its name. */
export function TeamChoice({
  organization,
  chosen,
  onChoose,
}: {
  readonly organization: string
  readonly chosen: Chosen | undefined
  readonly onChoose: (team: Chosen) => void
}) {
  const [q, setQ] = useState('')
  const teams = useQuery(teamsQuery(organization, q, 1))
  return (
    <div>
      <Field
        label="Find a team"
        type="search"
        value={q}
        autoFocus
        onChange={(event) => setQ(event.target.value)}
      />
      <Answered query={teams} isEmpty={({ data }) => data.length === 0} empty={`No team matches “${q}”.`}>
        {({ data, meta: { pagination } }) => (
          <fieldset className={styles.choices}>
            <legend>Team</legend>
            {data.slice(0, 10).map(({ id, attributes: { name } }) => (
              <label key={id}>
                <input
                  type="radio"
                  name="team"
                  checked={chosen?.id === id}
                  onChange={() => onChoose({ id, name })}
                />{' '}
                <span dir="auto">{name}</span>
              </label>
            ))}
            {pagination['total-count'] > 10 ? (
              <span className={styles.dim}>
                and {(pagination['total-count'] - 10).toLocaleString('en')} more: type a part of the name
              </span>
            ) : null}
          </fieldset>
        )}
      </Answered>
    </div>
  )
}
