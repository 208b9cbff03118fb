import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { apply } from '../access/changes.ts'
import { AccessPreview } from '../access/access-preview.tsx'
import { useChange } from '../api/change.ts'
import { pageOf, request, resource, type One, type Page, type Resource } from '../api/client.ts'
import { accountQuery } from '../api/session.ts'
import { Button } from '../kit/button.tsx'
import { Copy } from '../kit/copy.tsx'
import { Deletion } from '../kit/deletion.tsx'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { NewForm } from '../kit/new-form.tsx'
import { SearchedTable, type Search } from '../kit/searched-table.tsx'
import { Failed } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'

type User = {
  /** Null for somebody who is invited and has no account yet. */
  readonly username: string | null
  readonly email?: string
  readonly 'is-site-admin'?: boolean
  readonly 'is-suspended'?: boolean
}

/** `link` is a secret. It goes behind the # of the address, which browsers do not send to servers. */
type PasswordLink = { readonly link: string; readonly 'expired-at': string }

const usersQuery = (q: string, page: number) =>
  queryOptions({
    queryKey: ['users', q, page],
    queryFn: ({ signal }) => request<Page<User>>(pageOf('/admin/users', page, 50, { q }), { signal }),
    placeholderData: keepPreviousData,
  })

/** All users of the site, for its administrators. */
export function UsersPage() {
  const { q = '', page = 1 } = useSearch({ from: '/shell/~/admin/users' })
  const navigate = useNavigate({ from: '/~/admin/users' })
  const users = useQuery(usersQuery(q, page))
  const account = useQuery(accountQuery)
  const show = (search: Search) => void navigate({ search, replace: true })
  return (
    <>
      <h1>Users</h1>
      <p>
        <Link to="/~/admin/organizations">Organizations of the site</Link> ·{' '}
        <Link to="/~/admin/refusals">Refusals of the site</Link>
      </p>
      {users.data === undefined ? null : <NewUser />}
      <SearchedTable
        label="Find users by name or email"
        q={q}
        query={users}
        columns={['User', 'Email', 'Status', 'Actions']}
        isCounted
        empty="There is nobody yet."
        unmatched={`Nobody matches “${q}”.`}
        page={page}
        onShow={show}
      >
        {({ data }) =>
          data.map((user) => <UserRow key={user.id} user={user} isSelf={user.id === account.data?.data.id} />)
        }
      </SearchedTable>
    </>
  )
}

/** What each action needs to be said before it is done. */
const actions = {
  suspend: {
    label: 'Suspend',
    warning:
      'They are signed out, and their tokens stop working, from the next request on. Tokens and links that they made for others end for good.',
  },
  unsuspend: { label: 'End the suspension', warning: undefined },
  grant_admin: { label: 'Make administrator', warning: 'They may do everything, in every organization.' },
  revoke_admin: {
    label: 'End administration',
    warning: 'They keep what their teams give them. Tokens and links that they made for others end for good.',
  },
} as const

type Action = keyof typeof actions

function UserRow({
  user: { id, attributes },
  isSelf,
}: {
  readonly user: Resource<User>
  readonly isSelf: boolean
}) {
  const [asked, setAsked] = useState<Action>()
  const [endsTokens, setEndsTokens] = useState(false)
  const queries = useQueryClient()
  const act = useChange({
    mutationFn: (action: Action) =>
      apply({
        method: 'POST',
        path: `/admin/users/${id}/actions/${action}`,
        endsTokens: endsTokens && action === 'suspend',
      }),
    onSettled: async () => {
      setAsked(undefined)
      await queries.invalidateQueries({ queryKey: ['users'] })
    },
  })
  const link = useChange({
    mutationFn: async () =>
      (await request<One<PasswordLink>>(`/admin/users/${id}/password-links`, { method: 'POST' })).data
        .attributes,
    gcTime: 0,
  })
  const name = attributes.username ?? attributes.email ?? id
  const hasAccount = attributes.username !== null
  const isSuspended = attributes['is-suspended'] === true
  const isAdmin = attributes['is-site-admin'] === true
  const possible: Action[] = [
    isSuspended ? 'unsuspend' : 'suspend',
    ...(hasAccount ? [isAdmin ? ('revoke_admin' as const) : ('grant_admin' as const)] : []),
  ]
  const status = [
    hasAccount ? undefined : 'invited',
    isAdmin ? 'administrator' : undefined,
    isSuspended ? 'suspended' : undefined,
  ].filter((one) => one !== undefined)
  return (
    <tr>
      <th scope="row" dir="auto">
        {name}
        {isSelf ? ' (you)' : ''}
      </th>
      <td dir="auto">{attributes.email ?? '–'}</td>
      <td className={isSuspended ? styles.secret : undefined}>{status.join(', ') || 'active'}</td>
      <td>
        {asked === undefined ? (
          possible.map((action) => (
            <span key={action}>
              <Button
                aria-label={`${actions[action].label}${actions[action].warning ? ' …' : ''} (${name})`}
                disabled={act.isPending}
                onClick={() => (actions[action].warning ? setAsked(action) : act.mutate(action))}
              >
                {actions[action].label}
                {actions[action].warning ? ' …' : ''}
              </Button>{' '}
            </span>
          ))
        ) : (
          <div role="group" aria-label={`${actions[asked].label}: ${name}`}>
            {actions[asked].warning}{' '}
            {asked === 'suspend' ? (
              <>
                {isAdmin ? 'They lose what they may do as an administrator, too. ' : null}
                <AccessPreview
                  change={{ method: 'POST', path: `/admin/users/${id}/actions/suspend` }}
                  doing="suspend them"
                  nothing="they lose no access in any organization"
                  onEndTokens={setEndsTokens}
                />
              </>
            ) : null}
            <Button onClick={() => setAsked(undefined)}>Keep as it is</Button>{' '}
            <Button kind="main" disabled={act.isPending} onClick={() => act.mutate(asked)}>
              {actions[asked].label}
            </Button>
          </div>
        )}
        {isSuspended ? null : (
          <Button
            aria-label={`${hasAccount ? 'Password link' : 'Invitation link'} (${name})`}
            disabled={link.isPending}
            onClick={() => link.mutate()}
          >
            {hasAccount ? 'Password link' : 'Invitation link'}
          </Button>
        )}
        {link.data === undefined ? null : (
          <p className={styles.notice}>
            Send this to {name}. It {hasAccount ? 'sets a password' : 'makes their account'} once, until{' '}
            <Time at={link.data['expired-at']} />:{' '}
            <Copy
              what={`the link for ${name}`}
              text={() =>
                `${location.origin}/app/~/welcome${hasAccount ? '' : '?invited=true'}#${link.data.link}`
              }
            />{' '}
            <Button onClick={() => link.reset()}>Done</Button>
          </p>
        )}
        {isSelf || asked !== undefined ? null : (
          <Deletion
            what={`the user ${name}`}
            name={name}
            path={`/admin/users/${id}${endsTokens ? '?end-tokens=true' : ''}`}
          >
            <p>
              The account ends with its memberships, sessions and tokens, and cannot be brought back. To stop
              somebody for a time, suspend them.
            </p>
            <AccessPreview
              change={{ method: 'DELETE', path: `/admin/users/${id}` }}
              doing="delete them"
              nothing="they lose no access in any organization"
              onEndTokens={setEndsTokens}
            />
          </Deletion>
        )}
        {act.isError ? <Failed error={act.error} /> : null}
        {link.isError ? <Failed error={link.error} /> : null}
      </td>
    </tr>
  )
}

/** Creates an account. The person sets their own password with a link. */
function NewUser() {
  const queries = useQueryClient()
  const make = useChange({
    mutationFn: (attributes: { username: string; email: string }) =>
      request('/admin/users', { method: 'POST', body: resource('users', attributes) }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['users'] }),
  })
  return (
    <NewForm
      title="New user"
      creation={make}
      done={make.isSuccess ? `${make.variables.username} has an account. Make a password link for them.` : ''}
      onSubmit={(textOf, empty) =>
        make.mutate({ username: textOf('username'), email: textOf('email') }, { onSuccess: empty })
      }
    >
      <Field label="User name" name="username" required />
      <Field label="Email" name="email" type="email" required />
    </NewForm>
  )
}
