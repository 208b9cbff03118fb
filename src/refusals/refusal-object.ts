import { maskedSegment } from '../core/masked-path.ts'
import type { Named, Refusal } from './refusal.ts'

const API = '/api/v2'
const MAX_PATH = 500
const MAX_PARAM = 100

/** Types that cannot be derived from the name of their path parameter. */
const types: Readonly<Record<string, string>> = { token_id: 'authentication-tokens' }

/** The object of a request: the last one in its path, otherwise in its query or body. Undefined if there is none. */
export function objectOf(
  { path, found, permission }: Refusal,
  named: Named,
  organizationName: string | undefined,
): { type: string; id: string | null } | undefined {
  if (permission === null) return undefined
  const parameter = /.*:([a-z_]+)/.exec(path)?.[1]
  if (parameter === 'workspace_name') return { type: 'workspaces', id: found?.workspaceId ?? null }
  // A path with only an organization name may be about something in that organization, so look further.
  if (parameter !== undefined && parameter !== 'organization_name') {
    const type = types[parameter] ?? `${parameter.replace(/_id$/, '').replaceAll('_', '-')}s`
    return { type, id: shortened(named.params[parameter] ?? '') }
  }
  const workspaceId = found?.workspaceId ?? named.workspaceId
  if (workspaceId !== undefined) return { type: 'workspaces', id: shortened(workspaceId) }
  if (named.workspaceName !== undefined) return { type: 'workspaces', id: null }
  const projectId = found?.projectId ?? named.projectId
  if (projectId !== undefined) return { type: 'projects', id: shortened(projectId) }
  const asked = named.params.organization_name
  const name = organizationName ?? (asked === undefined ? undefined : shortened(asked))
  return name === undefined ? undefined : { type: 'organizations', id: name }
}

/** The requested path without its query string, with ids and names filled in, masked. It contains only visible ASCII. */
export function pathOf({ path, permission }: Refusal, { params }: Named): string {
  if (permission === null) return path.replace(/[^\x21-\x7e]/g, '?').slice(0, MAX_PATH)
  return API + path.replaceAll(/:([a-z_]+)/g, (_, name: string) => shortened(params[name] ?? ''))
}

/** Somebody may have pasted a token in the place of an id or a name. */
function shortened(text: string): string {
  return encodeURIComponent(maskedSegment(text).slice(0, MAX_PARAM).toWellFormed())
}
