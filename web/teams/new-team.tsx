import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useChange } from '../api/change.ts'
import { inOrganization, request, resource, type One } from '../api/client.ts'
import { Field } from '../kit/field.tsx'
import { NewForm } from '../kit/new-form.tsx'
import type { Team } from './team-query.ts'

/** Creates a team, and goes to it. */
export function NewTeam({ organization }: { readonly organization: string }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const make = useChange({
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
  return (
    <NewForm
      title="New team"
      creation={make}
      onSubmit={(textOf) =>
        make.mutate({
          name: textOf('name'),
          visibility: textOf('secret') === 'on' ? 'secret' : 'organization',
        })
      }
    >
      <Field label="Name" name="name" required />
      <label>
        <input type="checkbox" name="secret" /> secret: only its members and owners see it
      </label>
    </NewForm>
  )
}
