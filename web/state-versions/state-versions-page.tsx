import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { related, type Resource } from '../api/client.ts'
import styles from '../kit/kit.module.css'
import { PagedTable } from '../kit/paged-table.tsx'
import { Time } from '../kit/time.tsx'
import { OutputChanges } from '../outputs/output-changes.tsx'
import { nameQuery } from '../users/name-query.ts'
import { workspaceQuery } from '../workspaces/workspaces-query.ts'
import { Rollback } from './rollback.tsx'
import { stateVersionsQuery, type StateVersion } from './state-versions-query.ts'

const FROM = '/shell/$organization/workspaces/$workspace/states'

/** The history of a workspace: its versions, and what changed in the outputs. */
export function StateVersionsPage() {
  const { organization, workspace: place } = useParams({ from: FROM })
  const { version, since, page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/workspaces/$workspace/states' })
  // The address may have the id; the list goes by the name.
  const workspace = useQuery(workspaceQuery(organization, place)).data?.data.attributes.name ?? place
  const versions = useQuery(stateVersionsQuery(organization, workspace, page))
  const shown = versions.data?.data ?? []
  return (
    <>
      <PagedTable
        query={versions}
        columns={['Serial', 'At', 'By', 'State']}
        empty={
          <>
            No state yet. The first <code>tofu apply</code> brings one.
          </>
        }
        page={page}
        onShow={(number) => void navigate({ search: { page: number } })}
      >
        {({ data }) =>
          data.map((one) => (
            <VersionRow
              key={one.id}
              version={one}
              isShown={one.id === version}
              workspace={workspace}
              page={page}
            />
          ))
        }
      </PagedTable>
      {shown.length === 0 ? null : version === undefined ? (
        <p className={styles.dim}>Choose a serial to see what its state changed in the outputs.</p>
      ) : (
        <Comparison versions={shown} version={version} since={since} />
      )}
    </>
  )
}

function VersionRow({
  version,
  isShown,
  workspace,
  page,
}: {
  readonly version: Resource<StateVersion>
  readonly isShown: boolean
  readonly workspace: string
  readonly page: number
}) {
  const { id, attributes } = version
  const creator = related(version, 'created-by')
  const download = attributes['hosted-state-download-url']
  const reason = attributes['outputs-unreadable-reason']
  return (
    <tr aria-current={isShown ? 'true' : undefined}>
      <th scope="row">
        <Link to="." search={{ version: id, page }}>
          {attributes.serial}
        </Link>
      </th>
      <td>
        <Time at={attributes['created-at']} />
      </td>
      <td>{creator === undefined ? '–' : <Name type={creator.type} id={creator.id} />}</td>
      <td>
        {attributes.status === 'finalized' && download !== null ? (
          // The stored bytes, with the cookie of the session.
          <a href={new URL(download).pathname} download={`${workspace}-${attributes.serial}.tfstate`}>
            Download
          </a>
        ) : (
          <span className={styles.dim}>{statusInWords[attributes.status] ?? attributes.status}</span>
        )}
        {reason === null ? null : (
          <span className={styles.dim}> {unreadableInWords[reason] ?? 'outputs cannot be read'}</span>
        )}
      </td>
    </tr>
  )
}

const unreadableInWords: Readonly<Record<string, string>> = {
  encrypted: 'encrypted, outputs cannot be read',
  failed: 'outputs could not be processed',
}

const statusInWords: Readonly<Record<string, string>> = {
  finalized: 'you may not download it',
  pending: 'is being uploaded',
  discarded: 'discarded',
  backing_data_soft_deleted: 'content deleted, can be restored',
  backing_data_permanently_deleted: 'content deleted for good',
}

function Name({ type, id }: { readonly type: string; readonly id: string }) {
  const name = useQuery(nameQuery(type, id))
  return <span dir="auto">{name.data ?? id}</span>
}

/** What a version changed, compared with the one before or with another one of the page. */
function Comparison({
  versions,
  version,
  since,
}: {
  readonly versions: readonly Resource<StateVersion>[]
  readonly version: string
  readonly since: string | undefined
}) {
  const { organization, workspace } = useParams({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/workspaces/$workspace/states' })
  const found = useQuery(workspaceQuery(organization, workspace))
  const shown = versions.find(({ id }) => id === version)
  const current = found.data && related(found.data.data, 'current-state-version')?.id
  const mayRollBack = found.data?.data.attributes.permissions['can-create-state-versions'] === true
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">Outputs of serial {shown?.attributes.serial ?? version}</h2>
      <label>
        Compare with{' '}
        <select
          value={since ?? ''}
          onChange={({ target }) =>
            void navigate({
              search: (now) => ({ ...now, since: target.value === '' ? undefined : target.value }),
            })
          }
        >
          <option value="">the one before</option>
          {versions
            .filter(({ id, attributes }) => id !== version && attributes.status === 'finalized')
            .map(({ id, attributes }) => (
              <option key={id} value={id}>
                serial {attributes.serial}
              </option>
            ))}
        </select>
      </label>
      <OutputChanges key={`${version} ${since ?? ''}`} stateVersionId={version} since={since} />
      {shown !== undefined &&
      current !== undefined &&
      current !== version &&
      mayRollBack &&
      found.data !== undefined ? (
        <Rollback key={version} to={shown} current={current} workspace={found.data.data} />
      ) : null}
    </section>
  )
}
