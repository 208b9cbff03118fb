import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { request, type Page } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Table } from '../kit/table.tsx'
import { Time } from '../kit/time.tsx'
import { Answered, Failed } from '../kit/states.tsx'

type Session = {
  readonly 'created-at': string
  readonly 'last-used-at': string
  readonly 'expired-at': string
  readonly 'user-agent': string
  readonly 'is-current': boolean
}

const sessionsQuery = (userId: string) =>
  queryOptions({
    queryKey: ['sessions', userId],
    queryFn: ({ signal }) => request<Page<Session>>(`/users/${userId}/sessions?page[size]=100`, { signal }),
  })

/** Where the person has signed in. Each session can be ended, and all others at once. */
export function SessionsPanel({ userId }: { readonly userId: string }) {
  const sessions = useQuery(sessionsQuery(userId))
  const queries = useQueryClient()
  const end = useMutation({
    mutationFn: (path: string) => request(path, { method: 'DELETE' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
  })
  return (
    <Answered query={sessions}>
      {({ data }) => (
        <>
          {end.isError ? <Failed error={end.error} /> : null}
          <Table columns={['Browser', 'Signed in', 'Last used', 'Actions']}>
            {data.map(({ id, attributes }) => (
              <tr key={id}>
                <th scope="row">
                  {attributes['is-current'] ? 'this browser' : attributes['user-agent'] || 'unknown'}
                </th>
                <td>
                  <Time at={attributes['created-at']} />
                </td>
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
            ))}
          </Table>
          {data.length > 1 ? (
            <p>
              <Button disabled={end.isPending} onClick={() => end.mutate(`/users/${userId}/sessions`)}>
                End all others
              </Button>
            </p>
          ) : null}
        </>
      )}
    </Answered>
  )
}
