import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { related, type Resource } from '../api/client.ts'
import { Time } from '../kit/time.tsx'
import type { NamedPreview } from './outputs-query.ts'
import { outputVersionsQuery } from './output-versions-query.ts'

/** Which state version outputs are of, who stored it and when. Nothing for those who may not read outputs. */
export function ShownVersion({
  workspaceId,
  names,
  output,
}: {
  readonly workspaceId: string
  readonly names: { readonly organization: string; readonly workspace: string } | undefined
  /** One of the outputs that are shown: a newer state may be current by now. */
  readonly output: Resource<NamedPreview> | undefined
}) {
  const id = output && related(output, 'state-version')?.id
  const versions = useQuery({ ...outputVersionsQuery(workspaceId, 1), enabled: id !== undefined })
  const version = versions.data?.data.find((one) => one.id === id)
  if (version === undefined || names === undefined) return null
  const { serial, 'created-by-name': creator, 'created-at': at } = version.attributes
  return (
    <p>
      State version with{' '}
      <Link to="/$organization/workspaces/$workspace/states" params={names} search={{ version: version.id }}>
        serial {serial}
      </Link>
      , stored {creator === null ? null : <span dir="auto">by {creator} </span>}
      <Time at={at} />
    </p>
  )
}
