import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate, useParams, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, type RefObject } from 'react'
import { useChange } from './api/change.ts'
import { accountQuery, signOut } from './api/session.ts'
import { Find } from './find/find.tsx'
import { Button } from './kit/button.tsx'
import { heading, keepFocus } from './kit/kept-focus.ts'
import { AskAt, Failed } from './kit/states.tsx'
import { organizationQuery } from './organizations/organizations-query.ts'
import { placesFor } from './places.ts'
import styles from './shell.module.css'
import { PasswordGuard } from './sign-in/password-guard.tsx'
import { SessionGuard } from './sign-in/session-guard.tsx'

/** The bar above every page, and beside it the places of the organization that is shown. */
export function Shell() {
  const { organization } = useParams({ strict: false })
  const account = useQuery(accountQuery)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const main = useRef<HTMLElement>(null)
  useAnnouncedPage(main, organization)
  const place = useQuery({ ...organizationQuery(organization ?? ''), enabled: organization !== undefined })
  useEffect(keepFocus, [])
  const leave = async (next?: string) => {
    await navigate({ to: '/~/sign-in', search: next === undefined ? {} : { next } })
    queries.clear()
  }
  const { href } = useLocation()
  const signingOut = useChange({ mutationFn: signOut, onSuccess: () => leave() })
  return (
    <>
      <a
        href="#content"
        className={styles.skip}
        onClick={(event) => {
          // The address stays that of the page.
          event.preventDefault()
          heading()?.focus()
        }}
      >
        Skip to the content
      </a>
      <header className={styles.bar}>
        <Link to="/" className={styles.mark}>
          ◉ Purser
        </Link>
        {account.data?.data.attributes['is-site-admin'] === true ? (
          <Link to="/~/admin/users">Administration</Link>
        ) : null}
        <Find organization={organization} />
        <Link to="/~/account" className={styles.who}>
          {account.data?.data.attributes.username ?? 'Account'}
        </Link>
        <Button disabled={signingOut.isPending} onClick={() => signingOut.mutate()}>
          Sign out
        </Button>
      </header>
      {signingOut.isError ? (
        <section aria-label="Sign out" className={styles.still}>
          <p>You are still signed in.</p>
          <Failed error={signingOut.error} />
        </section>
      ) : null}
      <div className={styles.frame}>
        {organization === undefined ? null : <Places organization={organization} />}
        <main id="content" className={styles.page} ref={main}>
          <AskAt value={place.data?.data.attributes.email}>
            {/* Nothing of one organization stays on the pages of another one. */}
            <Outlet key={organization} />
          </AskAt>
        </main>
      </div>
      <PasswordGuard />
      <SessionGuard onSignedOut={() => void leave(href)} />
    </>
  )
}

/** The pages of the organization. Those that are not the caller's are left out. */
function Places({ organization }: { readonly organization: string }) {
  const found = useQuery(organizationQuery(organization))
  const mine = placesFor(found.data?.data.attributes.permissions ?? {})
  const parts = [...new Set(mine.map(({ part }) => part))]
  return (
    <nav aria-label="Organization" className={styles.places}>
      <strong>{organization}</strong>
      {parts.map((part) => (
        <div key={part} className={styles.part}>
          {mine
            .filter((place) => place.part === part)
            .map(({ to, name }) => (
              <Link key={to} to={to} params={{ organization }}>
                {name}
              </Link>
            ))}
        </div>
      ))}
    </nav>
  )
}

/** Names the document after the heading of each page, and its tab. After a navigation the heading gets the focus. */
function useAnnouncedPage(main: RefObject<HTMLElement | null>, organization: string | undefined) {
  // The page that is drawn. The address changes before the script of the next page has arrived.
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const before = useRef(pathname)
  useEffect(() => {
    const place = main.current
    if (place === null) return undefined
    const announce = () => {
      const found = heading()
      if (found === null) return
      const tab = place.querySelector('nav [aria-current=page]')
      const title = [tab?.textContent, found.textContent, organization, 'Purser']
        .filter((part) => part !== undefined)
        .join(' · ')
      if (document.title !== title) document.title = title
      if (before.current === pathname) return
      // A document that has just been opened begins at its top, and a tab that was chosen keeps the focus.
      if (before.current !== undefined && (tab === null || tab !== document.activeElement)) found.focus()
      before.current = pathname
    }
    announce()
    // Pages arrive later, and their headings are known when the server has answered.
    const observer = new MutationObserver(announce)
    observer.observe(place, { childList: true, subtree: true, characterData: true })
    return () => observer.disconnect()
  }, [main, pathname, organization])
}
