import { Link } from '@tanstack/react-router'
import styles from './sign-in/sign-in.module.css'

/** Shown for an address that is no page. */
export function NoPage() {
  return (
    <main className={styles.page}>
      <h1>No such page</h1>
      <p>
        Look at the address again, or go to <Link to="/">your organizations</Link>.
      </p>
    </main>
  )
}
