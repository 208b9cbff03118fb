import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import { inOrganization, request, resource, type One } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Deletion } from '../kit/deletion.tsx'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { Offer } from '../kit/offer.tsx'
import { SettingsForm } from '../kit/settings-form.tsx'
import { Answered, Failed } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { NewToken } from '../tokens/new-token.tsx'
import type { Token } from '../tokens/tokens-query.ts'
import { organizationQuery, type ShownOrganization } from './organizations-query.ts'
import { TokenLifetimes } from './token-lifetimes.tsx'

/** The rules of an organization, its token, and its end. */
export function OrganizationSettingsPage() {
  const { organization } = useParams({ from: '/shell/$organization/settings/general' })
  const navigate = useNavigate()
  const found = useQuery(organizationQuery(organization))
  return (
    <>
      <h1>Settings</h1>
      <Answered query={found}>
        {({ data: { attributes } }) => (
          <>
            <Rules key={attributes.name} attributes={attributes} latest={found.refetch} />
            <Offer
              may={attributes.permissions['can-update']}
              who="An owner"
              to="say how long tokens may live"
            >
              <TokenLifetimes attributes={attributes} latest={found.refetch} />
            </Offer>
            <Offer
              may={attributes.permissions['can-update-api-token']}
              who="An owner"
              to="make and revoke the token of the organization"
            >
              <OrganizationToken organization={organization} />
            </Offer>
            <Offer may={attributes.permissions['can-destroy']} who="An owner" to="delete the organization">
              <h2>Delete</h2>
              <Deletion
                what="the organization"
                name={organization}
                path={`/organizations/${encodeURIComponent(organization)}`}
                queryKey={organizationQuery(organization).queryKey}
                onDone={() => navigate({ to: '/' })}
              >
                <p>
                  All teams, workspaces, states and tokens of the organization end with it. Its audit events
                  are kept. This cannot be undone.
                </p>
              </Deletion>
            </Offer>
          </>
        )}
      </Answered>
    </>
  )
}

function Rules({
  attributes,
  latest,
}: {
  readonly attributes: ShownOrganization
  readonly latest: () => Promise<unknown>
}) {
  const { name, email, permissions } = attributes
  const mayChange = permissions['can-update'] === true
  const queries = useQueryClient()
  const save = useChange({
    mutationFn: (changed: object) =>
      request(`/organizations/${encodeURIComponent(name)}`, {
        method: 'PATCH',
        body: resource('organizations', changed),
      }),
    onSuccess: () => queries.invalidateQueries(),
  })
  return (
    <SettingsForm
      change={save}
      mayChange={mayChange}
      whoMay="An owner"
      latest={latest}
      onSubmit={(changed) => save.mutate(changed)}
    >
      <Field
        label="Email of its owners"
        name="email"
        type="email"
        defaultValue={email}
        disabled={!mayChange}
        required
      />
      <fieldset className={styles.choices} disabled={!mayChange}>
        <legend>Rules</legend>
        <label>
          <input
            type="checkbox"
            name="user-tokens-enabled"
            defaultChecked={attributes['user-tokens-enabled']}
          />{' '}
          tokens of people are accepted here; otherwise only those of teams and of the organization
        </label>
        <label>
          <input
            type="checkbox"
            name="delegated-team-management"
            defaultChecked={attributes['delegated-team-management']}
          />{' '}
          owners delegate teams: the permissions manage-teams and manage-organization-access count
        </label>
      </fieldset>
    </SettingsForm>
  )
}

/** The only token of the organization. A new one takes its place. */
function OrganizationToken({ organization }: { readonly organization: string }) {
  const path = inOrganization(organization, 'authentication-token')
  const [doing, setDoing] = useState<'make' | 'revoke'>()
  const [isRevoked, setRevoked] = useState(false)
  const start = (what: 'make' | 'revoke') => {
    setRevoked(false)
    setDoing(what)
  }
  const stop = () => setDoing(undefined)
  return (
    <section aria-label="Token of the organization">
      <h2>Token of the organization</h2>
      <p className={styles.dim}>
        It manages teams, workspaces and projects, and reads no state. There is one: a new one takes its
        place.
      </p>
      {doing === 'make' ? <NewToken path={path} onDone={stop} /> : null}
      {doing === 'revoke' ? (
        <RevokeToken
          path={path}
          onKeep={stop}
          onRevoked={() => {
            setRevoked(true)
            stop()
          }}
        />
      ) : null}
      {doing === undefined ? (
        <p>
          <Button onClick={() => start('make')}>New token of the organization</Button>{' '}
          <Button onClick={() => start('revoke')}>Revoke the token …</Button>
        </p>
      ) : null}
      <p role="status">{isRevoked ? 'The token is revoked.' : ''}</p>
    </section>
  )
}

/** Revokes the token, if there is one. That is asked only now: a 404 is a row among the refusals. */
function RevokeToken({
  path,
  onKeep,
  onRevoked,
}: {
  readonly path: string
  readonly onKeep: () => void
  readonly onRevoked: () => void
}) {
  const token = useQuery({
    queryKey: ['organization-token', path],
    queryFn: ({ signal }) => request<One<Token>>(path, { signal }),
    gcTime: 0,
  })
  const revoke = useChange({
    mutationFn: () => request(path, { method: 'DELETE' }),
    onSuccess: onRevoked,
  })
  return (
    <>
      <Answered query={token} hidden="The organization has no token.">
        {({ data: { attributes } }) => (
          <p>
            Made <Time at={attributes['created-at']} />, last used <Time at={attributes['last-used-at']} />.
            What uses it stops working.
          </p>
        )}
      </Answered>
      {revoke.isError ? <Failed error={revoke.error} /> : null}
      <p>
        <Button onClick={onKeep}>{token.isSuccess ? 'Keep it' : 'Back'}</Button>{' '}
        {token.isSuccess ? (
          <Button kind="main" disabled={revoke.isPending} onClick={() => revoke.mutate()}>
            Revoke for good
          </Button>
        ) : null}
      </p>
    </>
  )
}
