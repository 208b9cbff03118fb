import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { inOrganization, request, resource, type Page } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import { textsOf } from '../kit/form.ts'
import styles from '../kit/kit.module.css'
import { Answered, Failed } from '../kit/states.tsx'
import type { ShownOrganization } from './organizations-query.ts'

const DAY_MS = 86_400_000

type Policy = { readonly 'token-type': string; readonly 'max-ttl-ms': number }

const words: Readonly<Record<string, string>> = {
  organization: 'Days that the token of the organization may live',
  team: 'Days that tokens of teams may live',
  user: 'Days that tokens of people may live',
  audit_trails: 'Days that the token for the audit trail may live',
}

const policiesQuery = (organization: string) =>
  queryOptions({
    queryKey: ['token-ttl-policies', organization],
    queryFn: ({ signal }) =>
      request<Page<Policy>>(inOrganization(organization, 'token-ttl-policies'), { signal }),
  })

type Wanted = { readonly isInForce: boolean; readonly changed: readonly Policy[] }

/** How long the tokens of an organization may live, and whether that is in force. */
export function TokenLifetimes({ attributes }: { readonly attributes: ShownOrganization }) {
  const { name, 'max-ttl-enabled': isInForce } = attributes
  const policies = useQuery(policiesQuery(name))
  const queries = useQueryClient()
  const save = useMutation({
    mutationFn: async (wanted: Wanted) => {
      // The lifetimes first, so that none is in force that was not chosen.
      if (wanted.changed.length > 0) {
        await request(inOrganization(name, 'token-ttl-policies'), {
          method: 'PATCH',
          body: resource('organization-token-ttl-policies', { 'token-ttl-policies': wanted.changed }),
        })
      }
      if (wanted.isInForce === isInForce) return
      await request(`/organizations/${encodeURIComponent(name)}`, {
        method: 'PATCH',
        body: resource('organizations', { 'max-ttl-enabled': wanted.isInForce }),
      })
    },
    onSettled: () => queries.invalidateQueries(),
  })
  return (
    <section aria-label="Lifetimes of tokens">
      <h2>Lifetimes of tokens</h2>
      <p className={styles.dim}>
        While they are in force, a token that is older is refused from the next request on. It is not revoked:
        it works again if the lifetime is raised. A new token of a team or of the organization may not live
        longer.
      </p>
      <Answered query={policies}>
        {({ data }) => (
          <Lifetimes
            key={JSON.stringify([isInForce, data])}
            isInForce={isInForce}
            policies={data.map((policy) => policy.attributes)}
            isBusy={save.isPending}
            onSave={(wanted) => save.mutate(wanted)}
          />
        )}
      </Answered>
      {save.isError ? <Failed error={save.error} /> : null}
      <p role="status">{save.isSuccess ? 'The lifetimes are saved.' : ''}</p>
    </section>
  )
}

function Lifetimes({
  isInForce,
  policies,
  isBusy,
  onSave,
}: {
  readonly isInForce: boolean
  readonly policies: readonly Policy[]
  readonly isBusy: boolean
  readonly onSave: (wanted: Wanted) => void
}) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = textsOf(event.currentTarget)
    const changed = policies
      .filter((policy) => text(policy['token-type']) !== daysOf(policy))
      .map(({ 'token-type': kind }) => ({
        'token-type': kind,
        'max-ttl-ms': Math.round(Number(text(kind)) * DAY_MS),
      }))
    onSave({ isInForce: text('force') === 'on', changed })
  }
  return (
    <form onSubmit={submit}>
      <p>
        <label>
          <input type="checkbox" name="force" defaultChecked={isInForce} /> the lifetimes are in force
        </label>
      </p>
      {policies.map((policy) => (
        <Field
          key={policy['token-type']}
          label={words[policy['token-type']] ?? policy['token-type']}
          name={policy['token-type']}
          type="number"
          step="any"
          min={0}
          max={36_500}
          required
          defaultValue={daysOf(policy)}
        />
      ))}
      <Button type="submit" kind="main" disabled={isBusy}>
        Save the lifetimes
      </Button>
    </form>
  )
}

/** Days, with a part of a day if there is one. */
function daysOf({ 'max-ttl-ms': ms }: Policy): string {
  return String(Number((ms / DAY_MS).toFixed(4)))
}
