import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useChange } from '../api/change.ts'
import { inOrganization, request, resource, type Page } from '../api/client.ts'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { SettingsForm, type Changed } from '../kit/settings-form.tsx'
import { Answered } from '../kit/states.tsx'
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

/** How long the tokens of an organization may live, and whether that is in force. */
export function TokenLifetimes({
  attributes,
  latest,
}: {
  readonly attributes: ShownOrganization
  /** Reads the organization again. */
  readonly latest: () => Promise<unknown>
}) {
  const { name, 'max-ttl-enabled': isInForce } = attributes
  const policies = useQuery(policiesQuery(name))
  const queries = useQueryClient()
  const save = useChange({
    mutationFn: async ({ 'max-ttl-enabled': wanted, ...days }: Changed) => {
      const changed = Object.entries(days).map(([kind, text]) => ({
        'token-type': kind,
        'max-ttl-ms': Math.round(Number(text) * DAY_MS),
      }))
      // The lifetimes first, so that none is in force that was not chosen.
      if (changed.length > 0) {
        await request(inOrganization(name, 'token-ttl-policies'), {
          method: 'PATCH',
          body: resource('organization-token-ttl-policies', { 'token-ttl-policies': changed }),
        })
      }
      if (wanted === undefined) return
      await request(`/organizations/${encodeURIComponent(name)}`, {
        method: 'PATCH',
        body: resource('organizations', { 'max-ttl-enabled': wanted }),
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
          <SettingsForm
            title="Lifetimes of tokens"
            button="Save the lifetimes"
            change={save}
            mayChange
            whoMay="An owner"
            latest={() => Promise.all([latest(), policies.refetch()])}
            onSubmit={(changed) => save.mutate(changed)}
          >
            <p>
              <label>
                <input type="checkbox" name="max-ttl-enabled" defaultChecked={isInForce} /> the lifetimes are
                in force
              </label>
            </p>
            {data.map(({ attributes: policy }) => (
              <Field
                key={policy['token-type']}
                label={words[policy['token-type']] ?? policy['token-type']}
                name={policy['token-type']}
                type="number"
                step="any"
                // A minute, the least that the server takes.
                min={0.0007}
                max={36_500}
                required
                defaultValue={daysOf(policy)}
              />
            ))}
          </SettingsForm>
        )}
      </Answered>
    </section>
  )
}

/** Days, with a part of a day if there is one. */
function daysOf({ 'max-ttl-ms': ms }: Policy): string {
  return String(Number((ms / DAY_MS).toFixed(4)))
}
