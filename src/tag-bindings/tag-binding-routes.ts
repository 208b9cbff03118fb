import type { Transaction } from '../database/database.ts'
import type { Call } from '../http/call.ts'
import { done } from '../http/outcome.ts'
import { read } from '../http/read-route.ts'
import type { Loaded, Place, Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { listDocument, type Fragment } from '../jsonapi/document.ts'
import { pagingOfWhole } from '../jsonapi/paging.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { projectPlace } from '../projects/project-place.ts'
import { workspacePlace } from '../workspaces/workspace-place.ts'
import { effectiveTagBindingFragment, tagBindingResource } from './tag-binding-document.ts'
import { findTagBindings, type Tagged } from './tag-binding-store.ts'
import {
  effectiveOfWorkspaces,
  parseTagBindings,
  tagBindingItem,
  writeTagBindings,
  type EffectiveTagBinding,
} from './tag-bindings.ts'

/** One page with all bindings, because their number is limited. */
function whole(call: Call, fragments: readonly Fragment[]): string {
  return listDocument(fragments, pagingOfWhole(call.path, [], fragments.length, fragments.length))
}

async function ownBindings(tx: Transaction, call: Call, { column, id }: Tagged): Promise<string> {
  return whole(call, (await findTagBindings(tx, column, [id])).map(tagBindingResource.fragment))
}

const asList = { isList: true, isUnpaged: true } as const

/**
 * The routes of workspaces or projects. The platform has two paths: go-tfe v1 uses the first, v2 the second.
 *
 * @param boundOf finds the workspace or project itself
 */
function bindingRoutes<A, R extends Loaded & { organization: OrganizationRow }>(
  place: Place<A, R>,
  what: 'workspace' | 'project',
  boundOf: (loaded: R) => { readonly id: string; readonly name: string },
  effectiveOf: (tx: Transaction, loaded: R) => Promise<EffectiveTagBinding[]>,
): readonly Route[] {
  const taggedIn = (loaded: R) => ({ column: `${what}_id`, id: boundOf(loaded).id }) as const
  const reading = `${what}:read` as const
  const showOwn = (suffix: string) =>
    read(place, suffix, {
      permission: reading,
      summary: `List the tag bindings of a ${what}`,
      answers: 'tag-bindings',
      ...asList,
      document: ({ tx, resource, call }) => ownBindings(tx, call, taggedIn(resource)),
    })

  /** Adds and changes bindings, or replaces all of them. */
  const change = (method: 'PATCH' | 'POST', suffix: '/tag-bindings' | '/relationships/tag-bindings') => {
    const isRelationship = suffix === '/relationships/tag-bindings'
    const isWhole = isRelationship && method === 'PATCH'
    return write(place, suffix, {
      method,
      ...(isRelationship
        ? { status: 204 as const }
        : { status: 200 as const, answers: 'tag-bindings', ...asList }),
      permission: `${what}:manage`,
      summary: `${isWhole ? 'Set' : 'Add to'} the tag bindings of a ${what}`,
      accepts: { items: tagBindingItem },
      keepsAccess: true,
      body: parseTagBindings,
      act: async (context) => {
        const { resource } = context
        const { organization } = resource
        const { name } = boundOf(resource)
        const tagged = taggedIn(resource)
        await writeTagBindings(context, organization.id, tagged, context.body, isWhole)
        return done(tagged, {
          action: `${what}.bind-tags`,
          resourceType: place.type,
          details: { name, keys: [...context.body.keys()], whole: isWhole },
        })
      },
      document: ({ tx, call, result }) => ownBindings(tx, call, result),
    })
  }

  return [
    showOwn('/tag-bindings'),
    showOwn('/relationships/tag-bindings'),
    read(place, '/effective-tag-bindings', {
      permission: reading,
      summary: `List the tag bindings in effect on a ${what}`,
      answers: 'effective-tag-bindings',
      ...asList,
      document: async ({ tx, resource, call }) =>
        whole(call, (await effectiveOf(tx, resource)).map(effectiveTagBindingFragment)),
    }),
    change('PATCH', '/tag-bindings'),
    change('POST', '/relationships/tag-bindings'),
    change('PATCH', '/relationships/tag-bindings'),
  ]
}

export const tagBindingRoutes: readonly Route[] = [
  ...bindingRoutes(
    workspacePlace,
    'workspace',
    ({ workspace }) => workspace,
    async (tx, { workspace }) => (await effectiveOfWorkspaces(tx, [workspace])).get(workspace.id) ?? [],
  ),
  ...bindingRoutes(
    projectPlace,
    'project',
    ({ project }) => project,
    async (tx, { project }) =>
      (await findTagBindings(tx, 'project_id', [project.id])).map((binding) => ({
        binding,
        projectId: null,
      })),
  ),
]
