import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { AccessPreview } from '../access/access-preview.tsx'
import { useChange } from '../api/change.ts'
import { request, resource, type Resource } from '../api/client.ts'
import { Deletion } from '../kit/deletion.tsx'
import { Field } from '../kit/field.tsx'
import { Offer } from '../kit/offer.tsx'
import { SettingsForm } from '../kit/settings-form.tsx'
import { teamQuery, type Team } from './team-query.ts'

/** What a team is called, who sees it and who makes its tokens, and its end. */
export function TeamSettingsPage() {
  const { organization, team: id } = useParams({ from: '/shell/$organization/settings/teams/$team/settings' })
  const navigate = useNavigate()
  const team = useQuery(teamQuery(id))
  if (team.data === undefined) return null
  const { data } = team.data
  return (
    <>
      <Attributes key={id} team={data} latest={team.refetch} />
      <Offer may={data.attributes.permissions['can-destroy']} who="An owner" to="delete the team">
        <Deletion
          what="the team"
          name={data.attributes.name}
          path={`/teams/${id}`}
          queryKey={teamQuery(id).queryKey}
          onDone={() => navigate({ to: '/$organization/settings/teams', params: { organization } })}
        >
          <p>Its grants and its tokens end with it. This cannot be undone.</p>
          <AccessPreview change={{ method: 'DELETE', path: `/teams/${id}` }} doing="delete it" />
        </Deletion>
      </Offer>
    </>
  )
}

function Attributes({
  team: { id, attributes },
  latest,
}: {
  readonly team: Resource<Team>
  readonly latest: () => Promise<unknown>
}) {
  const queries = useQueryClient()
  const save = useChange({
    mutationFn: (changed: object) =>
      request(`/teams/${id}`, { method: 'PATCH', body: resource('teams', changed) }),
    onSuccess: () => queries.invalidateQueries(),
  })
  const { permissions, 'sso-team-id': ssoTeamId } = attributes
  const mayChange = permissions['can-update-visibility'] === true
  // Only one dialect says these apart. They may be changed on the team owners, too.
  const mayChangeSso = permissions['can-update-sso-team-id'] ?? mayChange
  const mayChangeTokens = permissions['can-update-member-token-management'] ?? mayChange
  const mayAny = mayChange || mayChangeSso || mayChangeTokens
  return (
    <SettingsForm
      change={save}
      mayChange={mayAny}
      whoMay="An owner"
      latest={latest}
      onSubmit={({ secret, 'sso-team-id': sso, ...changed }) =>
        save.mutate({
          ...changed,
          ...(secret === undefined ? {} : { visibility: secret === true ? 'secret' : 'organization' }),
          ...(typeof sso === 'string' ? { 'sso-team-id': sso.trim() } : {}),
        })
      }
    >
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
      {ssoTeamId === undefined ? null : (
        <Field
          label="SSO team id, from the MemberOf attribute"
          name="sso-team-id"
          defaultValue={ssoTeamId ?? ''}
          disabled={!mayChangeSso}
        />
      )}
      <p>
        <label>
          <input
            type="checkbox"
            name="allow-member-token-management"
            defaultChecked={attributes['allow-member-token-management']}
            disabled={!mayChangeTokens}
          />{' '}
          its members may make and revoke its tokens
        </label>
      </p>
    </SettingsForm>
  )
}
