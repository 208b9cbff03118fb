import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import { pageOf, request, type Page } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { PagedTable } from '../kit/paged-table.tsx'
import { Time } from '../kit/time.tsx'
import { Failed } from '../kit/states.tsx'

type Session = {
  readonly 'created-at': string
  readonly 'last-used-at': string
  readonly 'user-agent': string
  readonly address: string | null
  readonly 'is-current': boolean
}

const sessionsQuery = (userId: string, page: number) =>
  queryOptions({
    queryKey: ['sessions', userId, page],
    queryFn: ({ signal }) =>
      request<Page<Session>>(pageOf(`/users/${userId}/sessions`, page, 20), { signal }),
    placeholderData: keepPreviousData,
  })

/** Where the person has signed in. Each session can be ended, and all others at once. */
export function SessionsPanel({ userId }: { readonly userId: string }) {
  const [page, setPage] = useState(1)
  const sessions = useQuery(sessionsQuery(userId, page))
  const queries = useQueryClient()
  const end = useChange({
    mutationFn: (path: string) => request(path, { method: 'DELETE' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
  })
  const count = sessions.data?.meta.pagination['total-count'] ?? 0
  return (
    <>
      {end.isError ? <Failed error={end.error} /> : null}
      <PagedTable
        query={sessions}
        columns={['Browser', 'Signed in', 'From', 'Last used', 'Actions']}
        empty="There is none."
        page={page}
        onShow={setPage}
      >
        {({ data }) =>
          data.map(({ id, attributes }) => (
            <tr key={id}>
              <th scope="row">
                {attributes['is-current'] ? 'this browser' : attributes['user-agent'] || 'unknown'}
              </th>
              <td>
                <Time at={attributes['created-at']} />
              </td>
              <td>{attributes.address ?? 'unknown'}</td>
              <td>
                <Time at={attributes['last-used-at']} />
              </td>
              <td>
                {attributes['is-current'] ? null : (
                  <Button disabled={end.isPending} onClick={() => end.mutate(`/sessions/${id}`)}>
                    End
                  </Button>
                )}
              </td>
            </tr>
          ))
        }
      </PagedTable>
      {count > 1 ? (
        <p>
          <Button disabled={end.isPending} onClick={() => end.mutate(`/users/${userId}/sessions`)}>
            End all others
          </Button>
        </p>
      ) : null}
    </>
  )
}
