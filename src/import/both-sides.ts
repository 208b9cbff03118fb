import { projectAccessAttributes, workspaceAccessAttributes } from './copied-attributes.ts'
import { relatedIds, type List, type Resource } from './source-lists.ts'

/** The query that adds each item's tag bindings to a list of projects or workspaces. */
export const withTagBindings = { include: 'effective_tag_bindings' }

/** An item's own bindings, sorted by key. Bindings inherited from its project have an `inherited-from` link. */
export function tagBindingsOf(resource: Resource, { included }: List): { key: unknown; value: unknown }[] {
  return relatedIds(resource, 'effective-tag-bindings')
    .flatMap((id) => included.get(id) ?? [])
    .filter(({ links }) => links['inherited-from'] === undefined)
    .map(({ attributes: { key, value } }) => ({ key, value: value ?? '' }))
    .sort((a, b) => (String(a.key) < String(b.key) ? -1 : 1))
}

export function tokenLifetimesPath(organization: string): string {
  return `/organizations/${encodeURIComponent(organization)}/token-ttl-policies`
}

/** Maximum lifetimes in milliseconds, by the kind of token. */
export function tokenLifetimesOf({ data }: List): Record<string, number> {
  return Object.fromEntries(
    data.map(({ attributes }) => [String(attributes['token-type']), Number(attributes['max-ttl-ms'])]),
  )
}

/** The two kinds of team access: to what, and which of its attributes are copied. */
export const accessKinds = {
  'team-projects': { relation: 'project', type: 'projects', copied: projectAccessAttributes },
  'team-workspaces': { relation: 'workspace', type: 'workspaces', copied: workspaceAccessAttributes },
} as const
export type AccessKind = keyof typeof accessKinds

export function consumersPath(workspaceId: string): string {
  return `/workspaces/${workspaceId}/relationships/remote-state-consumers`
}
