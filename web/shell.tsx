import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router'
import { accountQuery, signOut } from './api/session.ts'
import { Button } from './kit/button.tsx'
import { organizationQuery } from './organizations/organizations-query.ts'
import styles from './shell.module.css'

/** The bar above every page, and the places of the organization that is shown. */
export function Shell() {
  const { organization } = useParams({ strict: false })
  const account = useQuery(accountQuery)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const leave = async () => {
    await signOut()
    queries.clear()
    await navigate({ to: '/~/sign-in' })
  }
  return (
    <>
      <header className={styles.bar}>
        <Link to="/" className={styles.mark}>
          ◉ Purser
        </Link>
        {organization === undefined ? null : <Places organization={organization} />}
        <Link to="/~/account" className={styles.who}>
          {account.data?.data.attributes.username ?? 'Account'}
        </Link>
        <Button onClick={() => void leave()}>Sign out</Button>
      </header>
      <main className={styles.page}>
        <Outlet />
      </main>
    </>
  )
}

/** The pages of the organization. Those that are not the caller's are left out. */
function Places({ organization }: { readonly organization: string }) {
  const found = useQuery(organizationQuery(organization))
  const params = { organization }
  return (
    <nav aria-label="Organization" className={styles.places}>
      <strong>{organization}</strong>
      <Link to="/$organization/workspaces" params={params}>
        Workspaces
      </Link>
      <Link to="/$organization/settings/teams" params={params}>
        Teams
      </Link>
      <Link to="/$organization/access" params={params}>
        Access
      </Link>
      {found.data?.data.attributes.permissions['can-manage-auditing'] === true ? (
        <Link to="/$organization/refusals" params={params}>
          Refusals
        </Link>
      ) : null}
    </nav>
  )
}
