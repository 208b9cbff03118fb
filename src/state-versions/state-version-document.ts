import { Type } from 'typebox'
import { isPermitted, type Target } from '../access/decide.ts'
import { hiddenTeamsAmong } from '../teams/team-store.ts'
import { existing } from '../core/existing.ts'
import type { Viewer } from '../http/route.ts'
import {
  nullable,
  relationManyOrLink,
  relationMaybe,
  relationOne,
  resourceType,
  timeSchema,
  type Fields,
} from '../jsonapi/description.ts'
import { document, type Fragment, type Identifier } from '../jsonapi/document.ts'
import { lockHolder } from '../workspaces/workspace-locks.ts'
import {
  isContentOver,
  neighboursOf,
  statuses,
  unreadableOutputs,
  unreadableReasons,
  type StateVersionRow,
} from './state-version-store.ts'
import { uploadPath } from './upload-urls.ts'

const textOrNone = nullable(Type.String())

type StateVersionView = {
  readonly row: StateVersionRow
  /** Addresses for the caller; null without the right to use them. */
  readonly upload: (kind: 'state' | 'json-state') => string | null
  readonly download: (path: string) => string | null
  /** Null for a team that the caller may not see. */
  readonly creator: Identifier | null
  readonly neighbours: { readonly previous?: string | null; readonly next?: string | null } | undefined
  readonly outputs: readonly Identifier[] | undefined
}

const attributes: Fields<StateVersionView> = {
  'created-at': [timeSchema, ({ row }) => row.created_at],
  size: [nullable(Type.Integer()), ({ row }) => (row.finalized_at === null ? null : row.size)],
  status: [Type.Union(statuses.map((status) => Type.Literal(status))), ({ row }) => row.status],
  serial: [Type.Integer(), ({ row }) => row.serial],
  'state-version': [nullable(Type.Integer()), ({ row }) => row.state_format],
  'terraform-version': [textOrNone, ({ row }) => row.terraform_version],
  'resources-processed': [Type.Boolean(), ({ row }) => row.resources_processed === 1],
  'outputs-unreadable-reason': [
    nullable(Type.Union(unreadableReasons.map((reason) => Type.Literal(reason)))),
    ({ row }) => unreadableOutputs(row),
  ],
  intermediate: [Type.Boolean(), ({ row }) => row.is_intermediate === 1],
  'hosted-state-download-url': [
    textOrNone,
    ({ row, download }) => (row.status === 'finalized' ? download('download') : null),
  ],
  'hosted-json-state-download-url': [
    textOrNone,
    ({ row, download }) =>
      row.json_upload_id !== null && !isContentOver(row) ? download('json-download') : null,
  ],
  'hosted-state-upload-url': [
    textOrNone,
    ({ row, upload }) => (row.status === 'pending' ? upload('state') : null),
  ],
  'hosted-json-state-upload-url': [
    textOrNone,
    ({ row, upload }) => (row.json_upload_id === null && !isContentOver(row) ? upload('json-state') : null),
  ],
  'encrypted-state-download-url': [textOrNone, () => null],
  'sanitized-state-upload-url': [textOrNone, () => null],
  'sanitized-state-download-url': [textOrNone, () => null],
  'billable-rum-count': [nullable(Type.Integer()), () => null],
  'vcs-commit-sha': [textOrNone, () => null],
  'vcs-commit-url': [textOrNone, () => null],
  modules: [Type.Object({}), () => ({})],
  providers: [Type.Object({}), () => ({})],
  resources: [Type.Array(Type.Object({})), () => []],
}

const stateVersions = resourceType<StateVersionView>({
  type: 'state-versions',
  id: ({ row }) => row.id,
  attributes,
  relationships: {
    workspace: relationOne('workspaces'),
    'created-by': relationMaybe('users', 'teams'),
    run: relationMaybe('runs'),
    'rollback-state-version': relationMaybe('state-versions'),
    'previous-state-version': relationMaybe('state-versions'),
    'next-state-version': relationMaybe('state-versions'),
    outputs: relationManyOrLink('state-version-outputs'),
  },
  related: ({ row, creator, neighbours, outputs }) => ({
    workspace: { data: { id: row.workspace_id, type: 'workspaces' } },
    'created-by': { data: creator },
    run: { data: null },
    'rollback-state-version': { data: versionOrNone(row.rollback_of_id) },
    'previous-state-version': { data: versionOrNone(neighbours?.previous) },
    'next-state-version': { data: versionOrNone(neighbours?.next) },
    outputs:
      outputs === undefined
        ? { links: { related: `/api/v2/state-versions/${row.id}/outputs` } }
        : { data: outputs },
  }),
  self: ({ row }) => `/api/v2/state-versions/${row.id}`,
})
export const stateVersionDescription = stateVersions.description

/** Documents contain absolute addresses, because clients use them unchanged. */
type StateVersionViewer = Viewer & { readonly call: { readonly origin: string } }

/** The document of one state version. */
export async function stateVersionDocument(
  context: StateVersionViewer & {
    readonly resource: { readonly target: Target }
    readonly result: StateVersionRow
  },
): Promise<string> {
  const [text] = await stateVersionFragments(context, context.resource.target, [context.result])
  return document(existing(text))
}

/** The resources of state versions. `outputs`: for `include=outputs`, with a single row. */
export async function stateVersionFragments(
  { tx, deps, actor, standing, call: { origin } }: StateVersionViewer,
  target: Target,
  rows: readonly StateVersionRow[],
  outputs?: readonly Identifier[],
): Promise<Fragment[]> {
  const creators = rows
    .filter((row) => row.created_by_kind === 'teams')
    .map((row) => existing(row.created_by_id))
  const hidden = await hiddenTeamsAmong(tx, creators, standing)
  const ids = rows.map(({ id }) => id)
  const neighbours = await neighboursOf(tx, ids)
  const canRead = isPermitted('state-version:read', actor, standing, target)
  return rows.map((row) => {
    // An upload URL is a right by itself, and uploads count as the creator's: only the creator sees it.
    const canUpload =
      lockHolder(actor).locked_by_id === row.created_by_id &&
      isPermitted('state-version:create', actor, standing, target)
    const upload = (kind: 'state' | 'json-state') =>
      canUpload ? origin + uploadPath(deps.config.secretKey, row.id, kind) : null
    const download = (path: string) => (canRead ? `${origin}/api/v2/state-versions/${row.id}/${path}` : null)
    const { created_by_id: id, created_by_kind: type } = row
    return stateVersions.fragment({
      row,
      upload,
      download,
      creator: id === null || type === null || hidden.has(id) ? null : { id, type },
      neighbours: neighbours.get(row.id),
      outputs,
    })
  })
}

function versionOrNone(id: string | null | undefined): Identifier | null {
  return id === null || id === undefined ? null : { id, type: 'state-versions' }
}
