import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { related, type Resource } from '../api/client.ts'
import styles from '../kit/kit.module.css'
import { Offer, WhoMay } from '../kit/offer.tsx'
import { PagedTable } from '../kit/paged-table.tsx'
import { Time } from '../kit/time.tsx'
import { OutputChanges } from '../outputs/output-changes.tsx'
import { outputVersionsQuery, type OutputVersion } from '../outputs/output-versions-query.ts'
import { workspaceQuery, type Workspace } from '../workspaces/workspaces-query.ts'
import { Rollback } from './rollback.tsx'

const FROM = '/shell/$organization/workspaces/$workspace/states'

/** The history of a workspace: its versions, and what changed in the outputs. */
export function StateVersionsPage() {
  const { organization, workspace } = useParams({ from: FROM })
  const found = useQuery(workspaceQuery(organization, workspace))
  if (found.data === undefined) return null
  const { data } = found.data
  return data.attributes.permissions['can-read-state-outputs'] === true ? (
    <History key={data.id} workspace={data} />
  ) : (
    <WhoMay who="Teams with the access read-outputs or more" to="see what changed in the outputs" />
  )
}

function History({ workspace }: { readonly workspace: Resource<Workspace> }) {
  const { version, since, page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/workspaces/$workspace/states' })
  const versions = useQuery(outputVersionsQuery(workspace.id, page))
  const shown = versions.data?.data ?? []
  const mayRead = workspace.attributes.permissions['can-read-state-versions'] === true
  return (
    <>
      {mayRead ? null : <WhoMay who="Teams with the access read or more" to="download states" />}
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
              workspace={workspace.attributes.name}
              mayRead={mayRead}
              page={page}
            />
          ))
        }
      </PagedTable>
      {shown.length === 0 ? null : version === undefined ? (
        <p className={styles.dim}>Choose a serial to see what its state changed in the outputs.</p>
      ) : (
        <Comparison workspace={workspace} versions={shown} version={version} since={since} />
      )}
    </>
  )
}

function VersionRow({
  version,
  isShown,
  workspace,
  mayRead,
  page,
}: {
  readonly version: Resource<OutputVersion>
  readonly isShown: boolean
  readonly workspace: string
  /** Whether the reader may download states. */
  readonly mayRead: boolean
  readonly page: number
}) {
  const { id, attributes } = version
  const isThere = attributes.status === 'finalized'
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
      <td dir="auto">{attributes['created-by-name'] ?? '–'}</td>
      <td>
        {isThere && mayRead ? (
          // The stored bytes, with the cookie of the session.
          <a
            href={`/api/v2/state-versions/${id}/download`}
            download={`${workspace}-${attributes.serial}.tfstate`}
          >
            Download
          </a>
        ) : (
          <span className={styles.dim}>
            {isThere ? 'stored' : (statusInWords[attributes.status] ?? attributes.status)}
          </span>
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
  pending: 'is being uploaded',
  discarded: 'discarded',
  backing_data_soft_deleted: 'content deleted, can be restored',
  backing_data_permanently_deleted: 'content deleted for good',
}

/** What a version changed, compared with the one before or with another one of the page. */
function Comparison({
  workspace,
  versions,
  version,
  since,
}: {
  readonly workspace: Resource<Workspace>
  readonly versions: readonly Resource<OutputVersion>[]
  readonly version: string
  readonly since: string | undefined
}) {
  const navigate = useNavigate({ from: '/$organization/workspaces/$workspace/states' })
  const shown = versions.find(({ id }) => id === version)
  const current = related(workspace, 'current-state-version')?.id
  const mayRollBack = workspace.attributes.permissions['can-create-state-versions'] === true
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
      {shown !== undefined && current !== undefined && current !== version ? (
        <Offer may={mayRollBack} who="Teams with the access write or more" to="roll back to it">
          <Rollback key={version} to={shown} current={current} workspace={workspace} />
        </Offer>
      ) : null}
    </section>
  )
}
