import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import styles from '../kit/kit.module.css'
import { PagedTable } from '../kit/paged-table.tsx'
import { SearchField } from '../kit/search-field.tsx'
import { holders } from '../searches.ts'
import { accessHoldersQuery, type AccessHolder } from './access-grants-query.ts'
import shape from './access.module.css'
import { actionsOn } from './actions.ts'
import { useMayAsk } from './ask-link.tsx'
import type { GrantPlace } from './grant-changes.ts'
import { GrantReason } from './grant-reason.tsx'

type Props = { readonly organization: string; readonly place: GrantPlace }

/** Who may do what on a workspace or a project, for those who may ask about everybody. */
export function PlaceHolders(props: Props) {
  return useMayAsk(props.organization) === true ? <Holders {...props} /> : null
}

function Holders({ organization, place }: Props) {
  const { q = '', may = '', who = 'users', page = 1 } = holders(useSearch({ strict: false }))
  const navigate = useNavigate()
  const found = useQuery(accessHoldersQuery(place.type, place.id, { q, may, who, page }))
  const ask = (change: object, replace = false) =>
    void navigate({ to: '.', search: (now: object) => holders({ ...now, page: 1, ...change }), replace })
  return (
    <section aria-labelledby="who-may-what">
      <h2 id="who-may-what">Who may do what here</h2>
      <div className={styles.inline}>
        {/* Back leads to the choice before, not through each letter. */}
        <SearchField label="Find by name" q={q} onSearch={(text) => ask({ q: text }, true)} />
        <label className={styles.field}>
          Who may
          <select value={may} onChange={(event) => ask({ may: event.target.value })}>
            <option value="">do more than every member may</option>
            {askedActions(place.type).map(({ name, words }) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label className={styles.field}>
          Show
          <select value={who} onChange={(event) => ask({ who: event.target.value })}>
            <option value="users">people</option>
            <option value="teams">teams, by their tokens</option>
          </select>
        </label>
      </div>
      <PagedTable
        query={found}
        columns={[who === 'users' ? 'Person' : 'Team', 'Level', 'By']}
        isCounted
        empty="Nobody may do that here."
        page={page}
        onShow={(number) => ask({ page: number })}
      >
        {({ data }) =>
          data.map(({ id, attributes }) => (
            <HolderRow key={id} organization={organization} place={place} holder={attributes} />
          ))
        }
      </PagedTable>
    </section>
  )
}

/** Every member reads current outputs, so nobody asks who may. */
function askedActions(on: GrantPlace['type']) {
  return actionsOn[on].filter(({ name }) => !name.endsWith('read-current-outputs'))
}

function HolderRow({
  organization,
  place,
  holder: { who, level, grants },
}: Props & { readonly holder: AccessHolder }) {
  const on = place.type === 'workspaces' ? { workspace: place.id } : { project: place.id }
  return (
    <tr>
      <th scope="row" dir="auto">
        <Link
          to="/$organization/access"
          params={{ organization }}
          search={who.type === 'users' ? { user: who.name, ...on } : { team: who.id, ...on }}
        >
          {who.name}
        </Link>
      </th>
      <td className={styles.mono}>{level}</td>
      <td>
        <ul className={shape.sentences}>
          {grants
            .filter(({ source, gives }) => source !== 'organization-member' && gives.length > 0)
            .map((grant) => (
              <li key={`${grant.source} ${grant.id ?? ''} ${grant.team?.id ?? ''} ${grant.flag ?? ''}`}>
                <GrantReason organization={organization} source={grant} />
              </li>
            ))}
        </ul>
      </td>
    </tr>
  )
}
