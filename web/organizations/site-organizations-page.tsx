import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { pageOf, request, type Page } from '../api/client.ts'
import { SearchedTable, type Search } from '../kit/searched-table.tsx'

type Usage = {
  readonly 'state-bytes': number
  readonly 'workspaces-count': number
  readonly 'owners-count': number
  /** The first ones. */
  readonly owners: readonly string[]
}

const usagesQuery = (q: string, page: number) =>
  queryOptions({
    queryKey: ['organization-usages', q, page],
    queryFn: ({ signal }) =>
      request<Page<Usage>>(pageOf('/admin/organizations', page, 50, { q }), { signal }),
    placeholderData: keepPreviousData,
  })

/** All organizations, those that take most first, for administrators of the site. */
export function SiteOrganizationsPage() {
  const { q = '', page = 1 } = useSearch({ from: '/shell/~/admin/organizations' })
  const navigate = useNavigate({ from: '/~/admin/organizations' })
  const usages = useQuery(usagesQuery(q, page))
  const show = (search: Search) => void navigate({ search, replace: true })
  return (
    <>
      <h1>Organizations of the site</h1>
      <SearchedTable
        label="Find organizations by name or email"
        q={q}
        query={usages}
        columns={['Organization', 'Owners', 'Workspaces', 'States']}
        isCounted
        empty="There is no organization yet."
        unmatched={`No organization matches “${q}”.`}
        page={page}
        onShow={show}
      >
        {({ data }) =>
          data.map(({ id, attributes: { owners, ...usage } }) => (
            <tr key={id}>
              <th scope="row">
                <Link to="/$organization/workspaces" params={{ organization: id }}>
                  {id}
                </Link>
              </th>
              <td>
                {owners.join(', ') || '–'}
                {usage['owners-count'] > owners.length
                  ? `, and ${usage['owners-count'] - owners.length} more`
                  : ''}
              </td>
              <td>{usage['workspaces-count']}</td>
              <td>{sizeOf(usage['state-bytes'])}</td>
            </tr>
          ))
        }
      </SearchedTable>
    </>
  )
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

function sizeOf(bytes: number): string {
  let size = bytes
  let unit = 0
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit += 1
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`
}
