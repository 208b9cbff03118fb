import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { NeededGrant } from '../access/access-grants-query.ts'
import { AskLink } from '../access/ask-link.tsx'
import { NeededGrants } from '../access/needed-grants.tsx'
import { inOrganization, pageOf, related, request, type Page } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import { Form } from '../kit/form.tsx'
import styles from '../kit/kit.module.css'
import { EmptyPage, Pager } from '../kit/pager.tsx'
import type { Search } from '../kit/searched-table.tsx'
import { Answered } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { WaysOut } from './ways-out.tsx'

const FROM = '/shell/$organization/refusals'

type Refusal = {
  readonly 'request-id': string
  readonly at: string
  readonly count: number
  readonly method: string
  readonly path: string
  readonly permission: string | null
  readonly reason: 'missing' | 'forbidden'
  /** The roles and grants of the caller, in words. */
  readonly standing: readonly string[]
  /** What would have been enough, each by itself. */
  readonly 'granted-by': readonly NeededGrant[]
  readonly object: { readonly type: string; readonly id: string | null } | null
  readonly caller: { readonly type: string; readonly id: string | null; readonly name: string } | null
  /** All of it in sentences. */
  readonly explanation: string
}

type RefusalSearch = Search & { readonly all?: true | undefined }

/**
 * The refusals with a request id. Without one: those whose callers lacked the permission, or `all`.
 *
 * @param list the path of the list
 */
const refusalsQuery = (list: string, { q, all, page = 1 }: RefusalSearch) =>
  queryOptions({
    queryKey: ['refusals', list, q ?? all, page],
    queryFn: ({ signal }) => {
      const lacking = q === undefined && all === undefined ? 'true' : undefined
      const path = pageOf(list, page, 20, { 'filter[request-id]': q, 'filter[lacks-permission]': lacking })
      return request<Page<Refusal>>(path, { signal })
    },
    // Not those of another question.
    placeholderData: (shown, asked) => (asked?.queryKey[2] === (q ?? all) ? shown : undefined),
  })

/** Why somebody was answered 404 about what the organization has. */
export function RefusalsPage() {
  const { organization } = useParams({ from: FROM })
  const search = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/refusals' })
  const show = (next: RefusalSearch) => void navigate({ search: next })
  return (
    <Refusals
      title="Refusals"
      list={inOrganization(organization, 'refusals')}
      search={search}
      onShow={show}
    />
  )
}

/** The same about anything on the site, for its administrators. */
export function SiteRefusalsPage() {
  const search = useSearch({ from: '/shell/~/admin/refusals' })
  const navigate = useNavigate({ from: '/~/admin/refusals' })
  const show = (next: RefusalSearch) => void navigate({ search: next })
  return <Refusals title="Refusals of the site" list="/admin/refusals" search={search} onShow={show} />
}

function Refusals({
  title,
  list,
  search,
  onShow,
}: {
  readonly title: string
  /** The path of the list, below /api/v2. */
  readonly list: string
  /** `q` is a request id. */
  readonly search: RefusalSearch
  readonly onShow: (search: RefusalSearch) => void
}) {
  const { q, all, page = 1 } = search
  const refusals = useQuery(refusalsQuery(list, search))
  const showPage = (number: number) => onShow({ q, all, page: number })
  return (
    <>
      <h1>{title}</h1>
      <Form
        className={styles.inline}
        key={q}
        onSubmit={(textOf) => onShow({ q: textOf('request').trim() || undefined })}
      >
        <Field label="Request id, from the message of the refusal" name="request" defaultValue={q} />
        <Button type="submit">Find</Button>
      </Form>
      {q === undefined ? (
        <p>
          <label>
            <input
              type="checkbox"
              checked={all === true}
              onChange={({ target }) => onShow({ all: target.checked ? true : undefined })}
            />{' '}
            also what does not exist, asked for by somebody who would see it
          </label>
        </p>
      ) : null}
      <Answered
        query={refusals}
        isEmpty={({ data }) => data.length === 0}
        empty={
          <EmptyPage
            page={page}
            empty={q === undefined ? 'Nobody was refused.' : 'No refusal has this request id.'}
            onShow={showPage}
          />
        }
      >
        {({ data, meta: { pagination } }) => (
          <>
            {data.map((one) => (
              <RefusalNotice
                key={one.id}
                organization={related(one, 'organization')?.id}
                refusal={one.attributes}
              />
            ))}
            <Pager
              page={page}
              pagination={pagination}
              isBusy={refusals.isPlaceholderData}
              onShow={showPage}
            />
          </>
        )}
      </Answered>
    </>
  )
}

function RefusalNotice({
  organization,
  refusal,
}: {
  /** Undefined if it was about nothing that an organization has. */
  readonly organization: string | undefined
  readonly refusal: Refusal
}) {
  const { at, caller, count, explanation, method, object, path, permission, reason, standing } = refusal
  const { 'granted-by': ways, 'request-id': id } = refusal
  return (
    <section className={styles.notice} aria-label={`Refusal ${id}`}>
      <p>
        ✗ <strong dir="auto">{caller?.name ?? 'Somebody outside the organization'}</strong> was answered 404
        to{' '}
        <code>
          {method} {path}
        </code>
        .{' '}
        {permission === null
          ? 'There is no such address.'
          : reason === 'missing'
            ? 'What they asked for does not exist, so no grant would help.'
            : `The permission ${permission} was missing.`}
        {standing.length === 0 ? '' : ` Their role and grants were: ${standing.join(', ')}.`}
      </p>
      {ways.length === 0 ? null : (
        <>
          <p>{ways.length === 1 ? 'This' : 'Any one of these'} would have been enough:</p>
          <NeededGrants grants={ways} />
        </>
      )}
      {organization === undefined || permission === null || caller === null || caller.id === null ? null : (
        <WaysOut
          organization={organization}
          caller={{ type: caller.type, id: caller.id, name: caller.name }}
          permission={permission}
          ways={ways}
        />
      )}
      <p className={styles.dim}>
        <Time at={at} />
        {count > 1 ? ` · ${count.toLocaleString('en')} times` : ''} · request <code>{id}</code>
      </p>
      <details>
        <summary>The same as a text to send to somebody</summary>
        <p dir="auto">{explanation}</p>
      </details>
      {organization !== undefined && caller?.type === 'users' && caller.id !== null ? (
        <p>
          <AskLink
            organization={organization}
            question={{
              user: caller.name,
              ...(object?.type === 'workspaces' && object.id !== null ? { workspace: object.id } : {}),
            }}
          >
            What {caller.name} may do there now
          </AskLink>{' '}
          {object?.type === 'workspaces' && object.id !== null ? (
            <Link
              to="/$organization/workspaces/$workspace/access"
              params={{ organization, workspace: object.id }}
            >
              Give access to the workspace
            </Link>
          ) : null}
        </p>
      ) : null}
    </section>
  )
}
