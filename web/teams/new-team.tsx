import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { inOrganization, request, resource, type One } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { Failed } from '../kit/states.tsx'
import { textsOf } from '../sign-in/form.ts'
import type { Team } from './team-query.ts'

/** Creates a team, and goes to it. */
export function NewTeam({ organization }: { readonly organization: string }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const make = useMutation({
    mutationFn: (attributes: { name: string; visibility: string }) =>
      request<One<Team>>(inOrganization(organization, 'teams'), {
        method: 'POST',
        body: resource('teams', attributes),
      }),
    onSuccess: async ({ data: { id: team } }) => {
      await queries.invalidateQueries({ queryKey: ['teams'] })
      await navigate({ to: '/$organization/settings/teams/$team', params: { organization, team } })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = textsOf(event.currentTarget)
    make.mutate({ name: text('name'), visibility: text('secret') === 'on' ? 'secret' : 'organization' })
  }
  return (
    <details>
      <summary>New team</summary>
      <form className={styles.inline} onSubmit={submit} aria-label="New team">
        <Field label="Name" name="name" required />
        <label>
          <input type="checkbox" name="secret" /> secret: only its members and owners see it
        </label>
        <Button type="submit" kind="main" disabled={make.isPending}>
          Create
        </Button>
        {make.isError ? <Failed error={make.error} /> : null}
      </form>
    </details>
  )
}
