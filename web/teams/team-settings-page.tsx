import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { AccessPreview } from '../access/access-preview.tsx'
import { apply } from '../access/changes.ts'
import { request, resource, type Resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { Failed } from '../kit/states.tsx'
import { textsOf } from '../sign-in/form.ts'
import { teamQuery, type Team } from './team-query.ts'

/** The name and visibility of a team, and its end. */
export function TeamSettingsPage() {
  const { organization, team: id } = useParams({ from: '/shell/$organization/settings/teams/$team/settings' })
  const team = useQuery(teamQuery(id))
  if (team.data === undefined) return null
  const { data } = team.data
  return (
    <>
      <Naming key={`${data.attributes.name} ${data.attributes.visibility}`} team={data} />
      {data.attributes.permissions['can-destroy'] === true ? (
        <Deletion team={data} organization={organization} />
      ) : null}
    </>
  )
}

function Naming({ team: { id, attributes } }: { readonly team: Resource<Team> }) {
  const queries = useQueryClient()
  const save = useMutation({
    mutationFn: (changed: { name: string; visibility: string }) =>
      request(`/teams/${id}`, { method: 'PATCH', body: resource('teams', changed) }),
    onSuccess: () => queries.invalidateQueries(),
  })
  const mayChange = attributes.permissions['can-update-visibility'] === true
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = textsOf(event.currentTarget)
    save.mutate({ name: text('name'), visibility: text('secret') === 'on' ? 'secret' : 'organization' })
  }
  return (
    <form onSubmit={submit} aria-label="Settings">
      {mayChange ? null : <p className={styles.dim}>You may not change these. An owner may.</p>}
      <Field label="Name" name="name" defaultValue={attributes.name} disabled={!mayChange} required />
      <p>
        <label>
          <input
            type="checkbox"
            name="secret"
            defaultChecked={attributes.visibility === 'secret'}
            disabled={!mayChange}
          />{' '}
          secret: only its members and owners see it
        </label>
      </p>
      {save.isError ? <Failed error={save.error} /> : null}
      <p role="status">{save.isSuccess ? 'Saved.' : ''}</p>
      {mayChange ? (
        <Button type="submit" kind="main" disabled={save.isPending}>
          Save
        </Button>
      ) : null}
    </form>
  )
}

/** Shows who loses what, and asks for the name. */
function Deletion({
  team: { id, attributes },
  organization,
}: {
  readonly team: Resource<Team>
  readonly organization: string
}) {
  const [isAsked, setAsked] = useState(false)
  const [typed, setTyped] = useState('')
  const queries = useQueryClient()
  const navigate = useNavigate()
  const change = { method: 'DELETE', path: `/teams/${id}` }
  const remove = useMutation({
    mutationFn: () => apply(change),
    onSuccess: async () => {
      await navigate({ to: '/$organization/settings/teams', params: { organization } })
      queries.removeQueries({ queryKey: ['team', id] })
      await queries.invalidateQueries()
    },
  })
  if (!isAsked) {
    return (
      <p>
        <Button onClick={() => setAsked(true)}>Delete the team …</Button>
      </p>
    )
  }
  return (
    <div role="group" aria-label="Delete the team">
      <h2>Delete the team</h2>
      <p>Its grants and its tokens end with it. This cannot be undone.</p>
      <AccessPreview change={change} />
      <Field
        label={`Type ${attributes.name} to delete it`}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {remove.isError ? <Failed error={remove.error} /> : null}
      <p>
        <Button onClick={() => setAsked(false)}>Keep it</Button>{' '}
        <Button
          kind="main"
          disabled={typed !== attributes.name || remove.isPending}
          onClick={() => remove.mutate()}
        >
          Delete for good
        </Button>
      </p>
    </div>
  )
}
