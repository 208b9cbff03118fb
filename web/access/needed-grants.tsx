import type { NeededGrant } from './access-grants-query.ts'

/** Grants of which each would be enough, in the server's words. */
export function NeededGrants({ grants }: { readonly grants: readonly NeededGrant[] }) {
  return (
    <ul>
      {grants.map(({ description }) => (
        <li key={description} dir="auto">
          {description}
        </li>
      ))}
    </ul>
  )
}
