import { projectAccessAttributes, workspaceAccessAttributes } from './copied-attributes.ts'
import { Unreadable } from './records.ts'
import { relatedIds, type List, type Resource } from './source-lists.ts'

/** The query that adds each item's tag bindings to a list of projects or workspaces. */
export const withTagBindings = { include: 'effective_tag_bindings' }

/** An item's own bindings, sorted by key. Bindings inherited from its project have an `inherited-from` link. */
export function tagBindingsOf(resource: Resource, { included }: List): { key: unknown; value: unknown }[] {
  return relatedIds(resource, 'effective-tag-bindings')
    .flatMap((id) => included.get(id) ?? [])
    .filter(({ links }) => links['inherited-from'] === undefined)
    .map(({ attributes: { key, value } }) => ({ key, value: value ?? '' }))
    .sort((a, b) => (sortedBy(a.key) < sortedBy(b.key) ? -1 : 1))
}

/** Not String(): it throws for an object whose own `toString` is no function. A key that is no text is refused later. */
const sortedBy = (key: unknown) => (typeof key === 'string' ? key : '')

export function tokenLifetimesPath(organization: string): string {
  return `/organizations/${encodeURIComponent(organization)}/token-ttl-policies`
}

/** Maximum lifetimes in milliseconds, by the kind of token. */
export function tokenLifetimesOf({ data }: List): Record<string, number> {
  return Object.fromEntries(
    data.map(({ attributes: { 'token-type': type, 'max-ttl-ms': ms } }) => {
      if (typeof type !== 'string' || typeof ms !== 'number') {
        throw new Unreadable('it was answered with a policy without token-type or max-ttl-ms')
      }
      return [type, ms]
    }),
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
