import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { AccessPreview } from '../access/access-preview.tsx'
import { useAccessChange } from '../access/use-access-change.ts'
import type { Resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Form } from '../kit/form.tsx'
import styles from '../kit/kit.module.css'
import { WhoMay } from '../kit/offer.tsx'
import { Failed } from '../kit/states.tsx'
import { keptOnly, permissionGroups } from './permission-words.ts'
import { teamQuery, type Team } from './team-query.ts'

const CHANGE = 'change these'

type Flags = Readonly<Record<string, boolean>>

/** What the team may do everywhere in the organization. */
export function TeamPermissionsPage() {
  const { team: id } = useParams({ from: '/shell/$organization/settings/teams/$team/permissions' })
  const team = useQuery(teamQuery(id))
  return team.data === undefined ? null : <Permissions team={team.data.data} />
}

function Permissions({ team: { id, attributes } }: { readonly team: Resource<Team> }) {
  const stored = attributes['organization-access']
  const [changed, setChanged] = useState<Flags>({})
  const save = useAccessChange(() => setChanged({}))
  const mayChange = attributes.permissions['can-update-organization-access'] === true
  const isChanged = Object.keys(changed).length > 0
  const change = {
    method: 'PATCH',
    path: `/teams/${id}`,
    body: { data: { type: 'teams', id, attributes: { 'organization-access': changed } } },
  }
  const toggle = (flag: string) => {
    const { [flag]: before, ...others } = changed
    setChanged(before === undefined ? { ...changed, [flag]: stored[flag] !== true } : others)
  }
  const box = (flag: string, words: string) => (
    <label key={flag}>
      <input
        type="checkbox"
        checked={changed[flag] ?? stored[flag] ?? false}
        disabled={!mayChange}
        onChange={() => toggle(flag)}
      />{' '}
      <span className={styles.mono}>{flag}</span> <span className={styles.dim}>{words}</span>
    </label>
  )
  return (
    <Form aria-label="Permissions" onSubmit={() => save.mutate(change)}>
      {mayChange ? null : <WhoMay who="An owner" to={CHANGE} />}
      {permissionGroups.map(([title, words]) => (
        <fieldset key={title} className={styles.choices}>
          <legend>{title}</legend>
          {Object.entries(words)
            .filter(([flag]) => flag in stored)
            .map(([flag, says]) => box(flag, says))}
        </fieldset>
      ))}
      <details>
        <summary>Kept for other clients, rule nothing here ({keptOnly(stored).length})</summary>
        <fieldset className={styles.choices}>
          <legend>Kept</legend>
          {keptOnly(stored).map((flag) => box(flag, ''))}
        </fieldset>
      </details>
      {isChanged ? <AccessPreview change={change} /> : null}
      {save.isError ? <Failed error={save.error} /> : null}
      {mayChange ? (
        <p data-offer={CHANGE}>
          <Button disabled={!isChanged} onClick={() => setChanged({})}>
            Discard
          </Button>{' '}
          <Button type="submit" kind="main" disabled={!isChanged || save.isPending}>
            Save permissions
          </Button>
        </p>
      ) : null}
    </Form>
  )
}
