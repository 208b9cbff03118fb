import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { request } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import styles from '../kit/kit.module.css'
import { Pager } from '../kit/pager.tsx'
import { Answered, Failed } from '../kit/states.tsx'
import { NewToken } from '../tokens/new-token.tsx'
import { teamTokensQuery } from './team-query.ts'

/** The tokens of a team, which act as the team. */
export function TeamTokensPage() {
  const { team } = useParams({ from: '/shell/$organization/settings/teams/$team/tokens' })
  const [page, setPage] = useState(1)
  const [isMaking, setMaking] = useState(false)
  const [asked, setAsked] = useState<string>()
  const tokens = useQuery(teamTokensQuery(team, page))
  const queries = useQueryClient()
  const revoke = useMutation({
    mutationFn: (id: string) => request(`/authentication-tokens/${id}`, { method: 'DELETE' }),
    onSettled: async () => {
      setAsked(undefined)
      await queries.invalidateQueries({ queryKey: ['team-tokens'] })
    },
  })
  return (
    <>
      <p>
        <Button kind="main" onClick={() => setMaking(true)}>
          New token
        </Button>
      </p>
      {isMaking ? (
        <NewToken path={`/teams/${team}/authentication-tokens`} onDone={() => setMaking(false)} />
      ) : null}
      {revoke.isError ? <Failed error={revoke.error} /> : null}
      <Answered
        query={tokens}
        isEmpty={({ data }) => data.length === 0}
        empty="No tokens. A pipeline needs one."
      >
        {({ data, meta: { pagination } }) => (
          <>
            <table className={styles.table}>
              <thead>
                <tr>
                  <th scope="col">Token</th>
                  <th scope="col">Last used</th>
                  <th scope="col">Expires</th>
                  <th scope="col">Actions</th>
                </tr>
              </thead>
              <tbody>
                {data.map(({ id, attributes }) => {
                  const name = attributes.description ?? id
                  return (
                    <tr key={id}>
                      <th scope="row" dir="auto">
                        {name}
                      </th>
                      <td>{timeOf(attributes['last-used-at'], 'never')}</td>
                      <td>{timeOf(attributes['expired-at'], 'never')}</td>
                      <td>
                        {asked === id ? (
                          <>
                            What uses it stops working.{' '}
                            <Button onClick={() => setAsked(undefined)}>Keep it</Button>{' '}
                            <Button
                              aria-label={`Revoke for good ${name}`}
                              disabled={revoke.isPending}
                              onClick={() => revoke.mutate(id)}
                            >
                              Revoke for good
                            </Button>
                          </>
                        ) : (
                          <Button aria-label={`Revoke ${name}`} onClick={() => setAsked(id)}>
                            Revoke
                          </Button>
                        )}
                      </td>
                    </tr>
                  )
                })}
              </tbody>
            </table>
            <Pager page={page} next={pagination['next-page']} onShow={setPage} />
          </>
        )}
      </Answered>
    </>
  )
}

function timeOf(at: string | null, otherwise: string) {
  return at === null ? otherwise : <time dateTime={at}>{new Date(at).toLocaleString()}</time>
}
