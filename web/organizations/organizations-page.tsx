import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Empty } from '../kit/states.tsx'
import styles from '../kit/kit.module.css'
import { organizationsQuery } from './organizations-query.ts'

export function OrganizationsPage() {
  const { data } = useSuspenseQuery(organizationsQuery)
  return (
    <>
      <h1>Organizations</h1>
      {data.data.length === 0 ? (
        <Empty>
          You are in no organization yet. Ask an owner of one to invite you, or create one with{' '}
          <code className={styles.mono}>purser organization create</code>.
        </Empty>
      ) : (
        <ul>
          {data.data.map(({ id }) => (
            <li key={id}>
              <Link to="/$organization/workspaces" params={{ organization: id }}>
                {id}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
