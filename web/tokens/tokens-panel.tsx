import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import { request } from '../api/client.ts'
import { PagedTable } from '../kit/paged-table.tsx'
import { Button } from '../kit/button.tsx'
import { Time } from '../kit/time.tsx'
import { Failed } from '../kit/states.tsx'
import { NewToken } from './new-token.tsx'
import { tokensQuery } from './tokens-query.ts'

/** A list of tokens, where one is made and revoked. */
export function TokensPanel({
  path,
  empty,
  mayEndAll = false,
}: {
  /** Where they are listed and created, below /api/v2. */
  readonly path: string
  readonly empty: string
  /** Whether all can be ended at once. */
  readonly mayEndAll?: boolean
}) {
  const [page, setPage] = useState(1)
  const [isMaking, setMaking] = useState(false)
  const [asked, setAsked] = useState<string>()
  const tokens = useQuery(tokensQuery(path, page))
  const queries = useQueryClient()
  const revoke = useChange({
    mutationFn: (ended: string) => request(ended, { method: 'DELETE' }),
    onSettled: async () => {
      setAsked(undefined)
      await queries.invalidateQueries({ queryKey: ['tokens'] })
    },
  })
  return (
    <>
      <p>
        <Button kind="main" onClick={() => setMaking(true)}>
          New token
        </Button>
      </p>
      {isMaking ? <NewToken path={path} onDone={() => setMaking(false)} /> : null}
      {revoke.isError ? <Failed error={revoke.error} /> : null}
      <PagedTable
        query={tokens}
        columns={['Token', 'Last used', 'Expires', 'Actions']}
        empty={empty}
        page={page}
        onShow={setPage}
      >
        {({ data }) =>
          data.map(({ id, attributes }) => {
            const name = attributes.description ?? id
            return (
              <tr key={id}>
                <th scope="row" dir="auto">
                  {name}
                </th>
                <td>
                  <Time at={attributes['last-used-at']} />
                </td>
                <td>
                  <Time at={attributes['expired-at']} />
                </td>
                <td>
                  {asked === id ? (
                    <>
                      What uses it stops working. <Button onClick={() => setAsked(undefined)}>Keep it</Button>{' '}
                      <Button
                        aria-label={`Revoke for good ${name}`}
                        disabled={revoke.isPending}
                        onClick={() => revoke.mutate(`/authentication-tokens/${id}`)}
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
          })
        }
      </PagedTable>
      {mayEndAll && (tokens.data?.meta.pagination['total-count'] ?? 0) > 0 ? (
        <p>
          {asked === path ? (
            <>
              What uses any of them stops working.{' '}
              <Button onClick={() => setAsked(undefined)}>Keep them</Button>{' '}
              <Button disabled={revoke.isPending} onClick={() => revoke.mutate(path)}>
                Revoke all for good
              </Button>
            </>
          ) : (
            <Button onClick={() => setAsked(path)}>Revoke all …</Button>
          )}
        </p>
      ) : null}
    </>
  )
}
