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
import { effectiveTagBindingFragment, tagBindingFragment } from './tag-binding-document.ts'
import { findTagBindings, type Tagged } from './tag-binding-store.ts'
import {
  effectiveOfWorkspaces,
  parseTagBindings,
  tagBindingItem,
  writeTagBindings,
  type EffectiveTagBinding,
} from './tag-bindings.ts'

/** The parts of a workspace or project that its bindings need. */
type Bound = Loaded & {
  organization: OrganizationRow
  tagged: Tagged
  name: string
  effective: (tx: Transaction) => Promise<EffectiveTagBinding[]>
}

type WorkspaceAddress = NonNullable<ReturnType<typeof workspacePlace.address>>

const boundWorkspacePlace: Place<WorkspaceAddress, Bound> = {
  ...workspacePlace,
  load: async (context) => {
    const loaded = await workspacePlace.load(context)
    if (loaded === undefined) return undefined
    const { id, name } = loaded.workspace
    return {
      ...loaded,
      tagged: { column: 'workspace_id', id },
      name,
      effective: async (tx) => (await effectiveOfWorkspaces(tx, [loaded.workspace])).get(id) ?? [],
    }
  },
}

const boundProjectPlace: Place<{ id: string }, Bound> = {
  ...projectPlace,
  load: async (context) => {
    const loaded = await projectPlace.load(context)
    if (loaded === undefined) return undefined
    const { id, name } = loaded.project
    return {
      ...loaded,
      tagged: { column: 'project_id', id },
      name,
      effective: async (tx) =>
        (await findTagBindings(tx, 'project_id', [id])).map((binding) => ({ binding, projectId: null })),
    }
  },
}

/** One page with all bindings, because their number is limited. */
function whole(call: Call, fragments: readonly Fragment[]): string {
  return listDocument(fragments, pagingOfWhole(call.path, [], fragments.length, fragments.length))
}

async function ownBindings(tx: Transaction, call: Call, { column, id }: Tagged): Promise<string> {
  return whole(call, (await findTagBindings(tx, column, [id])).map(tagBindingFragment))
}

const asList = { isList: true, isUnpaged: true } as const

/** The routes of workspaces or projects. The platform has two paths: go-tfe v1 uses the first, v2 the second. */
function bindingRoutes<A>(place: Place<A, Bound>, what: 'workspace' | 'project'): readonly Route[] {
  const reading = `${what}:read` as const
  const showOwn = (suffix: string) =>
    read(place, suffix, {
      permission: reading,
      summary: `List the tag bindings of a ${what}`,
      answers: 'tag-bindings',
      ...asList,
      document: ({ tx, resource, call }) => ownBindings(tx, call, resource.tagged),
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
        const { tagged, name, organization } = context.resource
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
        whole(call, (await resource.effective(tx)).map(effectiveTagBindingFragment)),
    }),
    change('PATCH', '/tag-bindings'),
    change('POST', '/relationships/tag-bindings'),
    change('PATCH', '/relationships/tag-bindings'),
  ]
}

export const tagBindingRoutes: readonly Route[] = [
  ...bindingRoutes(boundWorkspacePlace, 'workspace'),
  ...bindingRoutes(boundProjectPlace, 'project'),
]
