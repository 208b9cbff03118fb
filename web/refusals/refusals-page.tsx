import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { inOrganization, pageOf, request, type Page } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { Pager } from '../kit/pager.tsx'
import { Time } from '../kit/time.tsx'
import { Answered } from '../kit/states.tsx'
import { textsOf } from '../sign-in/form.ts'

const FROM = '/shell/$organization/refusals'

type Refusal = {
  readonly 'request-id': string
  readonly at: string
  readonly count: number
  readonly method: string
  readonly path: string
  readonly object: { readonly type: string; readonly id: string | null } | null
  readonly caller: { readonly type: string; readonly id: string | null; readonly name: string } | null
  /** Why, and what would have been enough. */
  readonly explanation: string
}

const refusalsQuery = (organization: string, requestId: string | undefined, page: number) =>
  queryOptions({
    queryKey: ['refusals', organization, requestId, page],
    queryFn: ({ signal }) => {
      const parameters = { 'filter[request-id]': requestId }
      const path = pageOf(inOrganization(organization, 'refusals'), page, 20, parameters)
      return request<Page<Refusal>>(path, { signal })
    },
  })

/** Why somebody was answered 404, and what would have helped. */
export function RefusalsPage() {
  const { organization } = useParams({ from: FROM })
  const { q, page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/refusals' })
  const refusals = useQuery(refusalsQuery(organization, q, page))
  const find = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const requestId = textsOf(event.currentTarget)('request').trim()
    void navigate({ search: { q: requestId || undefined } })
  }
  return (
    <>
      <h1>Refusals</h1>
      <form onSubmit={find} key={q}>
        <Field label="Request id, from the message of the refusal" name="request" defaultValue={q} />
        <Button type="submit">Find</Button>
      </form>
      <Answered
        query={refusals}
        isEmpty={({ data }) => data.length === 0}
        empty={q === undefined ? 'Nobody was refused in the last 7 days.' : 'No refusal has this request id.'}
      >
        {({ data, meta: { pagination } }) => (
          <>
            {data.map(({ id, attributes }) => (
              <RefusalNotice key={id} organization={organization} refusal={attributes} />
            ))}
            <Pager
              page={page}
              next={pagination['next-page']}
              onShow={(number) => void navigate({ search: { q, page: number } })}
            />
          </>
        )}
      </Answered>
    </>
  )
}

function RefusalNotice({
  organization,
  refusal: { at, caller, count, explanation, method, object, path, 'request-id': id },
}: {
  readonly organization: string
  readonly refusal: Refusal
}) {
  return (
    <section className={styles.notice} aria-label={`Refusal ${id}`}>
      <p dir="auto">✗ {explanation}</p>
      <p className={styles.dim}>
        <code>
          {method} {path}
        </code>{' '}
        · <Time at={at} />
        {count > 1 ? ` · ${count.toLocaleString('en')} times` : ''} · request <code>{id}</code>
      </p>
      {caller?.type === 'users' && caller.id !== null ? (
        <p>
          <Link
            to="/$organization/access"
            params={{ organization }}
            search={{
              user: caller.name,
              ...(object?.type === 'workspaces' && object.id !== null ? { workspace: object.id } : {}),
            }}
          >
            What {caller.name} may do there now
          </Link>
          {object?.type === 'workspaces' && object.id !== null ? (
            <>
              {' · '}
              <Link
                to="/$organization/workspaces/$workspace/access"
                params={{ organization, workspace: object.id }}
              >
                Give access to the workspace
              </Link>
            </>
          ) : null}
        </p>
      ) : null}
    </section>
  )
}
