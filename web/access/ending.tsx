import styles from '../kit/kit.module.css'
import { AccessPreview } from './access-preview.tsx'
import type { Change } from './changes.ts'

/** Whose access ends with a workspace or project that is deleted. */
export function Ending({ change }: { readonly change: Change }) {
  return (
    <>
      <AccessPreview
        change={change}
        doing="delete it"
        nothing="nobody loses access by a grant that you may see"
      />
      <p className={styles.dim}>
        Owners lose it too, and so do teams with a permission for all workspaces or projects. They are not
        listed.
      </p>
    </>
  )
}
