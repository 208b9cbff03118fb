import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { request, type Page } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import styles from '../kit/kit.module.css'
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
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">Browser</th>
                <th scope="col">Signed in</th>
                <th scope="col">Last used</th>
                <th scope="col">Actions</th>
              </tr>
            </thead>
            <tbody>
              {data.map(({ id, attributes }) => (
                <tr key={id}>
                  <th scope="row">
                    {attributes['is-current'] ? 'this browser' : attributes['user-agent'] || 'unknown'}
                  </th>
                  <td>
                    <time dateTime={attributes['created-at']}>
                      {new Date(attributes['created-at']).toLocaleString()}
                    </time>
                  </td>
                  <td>
                    <time dateTime={attributes['last-used-at']}>
                      {new Date(attributes['last-used-at']).toLocaleString()}
                    </time>
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
            </tbody>
          </table>
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
