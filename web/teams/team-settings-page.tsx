import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { AccessPreview } from '../access/access-preview.tsx'
import { request, resource, type Resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Deletion } from '../kit/deletion.tsx'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { Failed } from '../kit/states.tsx'
import { textsOf } from '../sign-in/form.ts'
import { teamQuery, type Team } from './team-query.ts'

/** The name and visibility of a team, and its end. */
export function TeamSettingsPage() {
  const { organization, team: id } = useParams({ from: '/shell/$organization/settings/teams/$team/settings' })
  const navigate = useNavigate()
  const queries = useQueryClient()
  const team = useQuery(teamQuery(id))
  if (team.data === undefined) return null
  const { data } = team.data
  return (
    <>
      <Naming key={`${data.attributes.name} ${data.attributes.visibility}`} team={data} />
      {data.attributes.permissions['can-destroy'] === true ? (
        <Deletion
          what="the team"
          name={data.attributes.name}
          path={`/teams/${id}`}
          onDone={async () => {
            await navigate({ to: '/$organization/settings/teams', params: { organization } })
            queries.removeQueries({ queryKey: ['team', id] })
          }}
        >
          <p>Its grants and its tokens end with it. This cannot be undone.</p>
          <AccessPreview change={{ method: 'DELETE', path: `/teams/${id}` }} />
        </Deletion>
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
