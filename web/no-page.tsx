import { Link } from '@tanstack/react-router'
import { useTitle } from './kit/title.ts'
import styles from './sign-in/sign-in.module.css'

/** Shown for an address that is no page. */
export function NoPage() {
  useTitle('No such page')
  return (
    <main className={styles.page}>
      <h1>No such page</h1>
      <p>
        Check the address, or go to <Link to="/">your organizations</Link>.
      </p>
    </main>
  )
}
