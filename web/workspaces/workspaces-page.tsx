import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Columns } from '../kit/columns.tsx'
import styles from '../kit/kit.module.css'
import { Field } from '../kit/field.tsx'
import { Pager } from '../kit/pager.tsx'
import { Answered } from '../kit/states.tsx'
import { workspacesQuery } from './workspaces-query.ts'

const FROM = '/shell/$organization/workspaces'

export function WorkspacesPage() {
  const { organization } = useParams({ from: FROM })
  const { q = '', page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/workspaces' })
  const workspaces = useQuery(workspacesQuery(organization, q, page))
  const show = (search: { q?: string | undefined; page?: number }) => void navigate({ search, replace: true })
  return (
    <>
      <h1>Workspaces</h1>
      <Field
        label="Find a workspace"
        type="search"
        value={q}
        onChange={(event) => show({ q: event.target.value || undefined })}
      />
      <Answered
        query={workspaces}
        isEmpty={({ data }) => data.length === 0}
        empty={
          q !== '' ? (
            `No workspace matches “${q}”.`
          ) : (
            <>
              No workspaces yet. One is created by the first <code>tofu init</code>, or over the interface.
            </>
          )
        }
      >
        {({ data, meta: { pagination } }) => (
          <>
            <table className={styles.table}>
              <Columns names={['Name', 'Lock']} />
              <tbody>
                {data.map(({ id, attributes: { name, locked } }) => (
                  <tr key={id}>
                    <td>
                      <Link
                        to="/$organization/workspaces/$workspace"
                        params={{ organization, workspace: name }}
                      >
                        {name}
                      </Link>
                    </td>
                    <td className={locked ? styles.secret : styles.dim}>{locked ? 'locked' : '–'}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            <Pager
              page={page}
              next={pagination['next-page']}
              onShow={(number) => show({ q: q || undefined, page: number })}
            />
          </>
        )}
      </Answered>
    </>
  )
}
