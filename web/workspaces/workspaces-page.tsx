import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import styles from '../kit/kit.module.css'
import { Answered } from '../kit/states.tsx'
import { workspacesQuery } from './workspaces-query.ts'

export function WorkspacesPage() {
  const { organization } = useParams({ from: '/shell/$organization/workspaces' })
  const workspaces = useQuery(workspacesQuery(organization))
  return (
    <>
      <h1>Workspaces</h1>
      <Answered
        query={workspaces}
        isEmpty={({ data }) => data.length === 0}
        empty={
          <>
            No workspaces yet. One is created by the first <code>tofu init</code>, or over the interface.
          </>
        }
      >
        {({ data }) => (
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Lock</th>
              </tr>
            </thead>
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
                  <td className={locked ? styles.secret : styles.dim}>{locked ? '⚿ locked' : '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Answered>
    </>
  )
}
