import type { Permission } from '../access/rules.ts'
import type { Actor } from '../access/actor.ts'
import type { Target } from '../access/decide.ts'
import { parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { noContent, ok, type Answer, type Call } from '../http/call.ts'
import type { Deps } from '../http/deps.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { listDocument, type Fragment } from '../jsonapi/document.ts'
import { pagingOfWhole } from '../jsonapi/paging.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { loadProject } from '../projects/projects.ts'
import { loadWorkspace } from '../workspaces/workspaces.ts'
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
type Loaded = {
  organization: OrganizationRow
  target: Target
  tagged: Tagged
  name: string
  effective: (tx: Transaction) => Promise<EffectiveTagBinding[]>
}

type Kind = {
  type: 'workspaces' | 'projects'
  path: string
  what: string
  read: Permission
  manage: Permission
  address: (call: Call) => { id: string } | undefined
  load: (context: {
    tx: Transaction
    actor: Actor
    deps: Deps
    address: { id: string }
  }) => Promise<Loaded | undefined>
}

const ofWorkspaces: Kind = {
  type: 'workspaces',
  path: '/workspaces/:workspace_id',
  what: 'a workspace',
  read: 'workspace:read',
  manage: 'workspace:manage',
  address: ({ params }) => {
    const id = parseId('workspace', params.workspace_id as string)
    return id === undefined ? undefined : { id }
  },
  load: async (context) => {
    const loaded = await loadWorkspace(context, { workspaceId: context.address.id })
    if (loaded === undefined) return undefined
    const { organization, workspace, target } = loaded
    return {
      organization,
      target,
      tagged: { column: 'workspace_id', id: workspace.id },
      name: workspace.name,
      effective: async (tx) => (await effectiveOfWorkspaces(tx, [workspace])).get(workspace.id) ?? [],
    }
  },
}

const ofProjects: Kind = {
  type: 'projects',
  path: '/projects/:project_id',
  what: 'a project',
  read: 'project:read',
  manage: 'project:manage',
  address: ({ params }) => {
    const id = parseId('project', params.project_id as string)
    return id === undefined ? undefined : { id }
  },
  load: async (context) => {
    const loaded = await loadProject(context, context.address.id)
    if (loaded === undefined) return undefined
    const { organization, project, target } = loaded
    return {
      organization,
      target,
      tagged: { column: 'project_id', id: project.id },
      name: project.name,
      effective: async (tx) =>
        (await findTagBindings(tx, 'project_id', [project.id])).map((binding) => ({
          binding,
          projectId: null,
        })),
    }
  },
}

/** One page with all bindings, because their number is limited. */
function whole(call: Call, fragments: readonly Fragment[]): Answer {
  return ok(listDocument(fragments, pagingOfWhole(call.path, [], fragments.length, fragments.length)))
}

async function ownBindings(tx: Transaction, { column, id }: Tagged): Promise<Fragment[]> {
  return (await findTagBindings(tx, column, [id])).map(tagBindingFragment)
}

/** The platform has both paths: go-tfe v1 uses the first, v2 the second. */
const places = ['tag-bindings', 'relationships/tag-bindings'] as const

const list = ({ path, what, read, address, load }: Kind, place: (typeof places)[number]) =>
  readRoute({
    path: `${path}/${place}`,
    permission: read,
    summary: `List the tag bindings of ${what}`,
    answers: 'tag-bindings',
    isList: true,
    isUnpaged: true,
    address,
    load,
    document: async ({ tx, resource, call }) => whole(call, await ownBindings(tx, resource.tagged)),
  })

const listEffective = ({ path, what, read, address, load }: Kind) =>
  readRoute({
    path: `${path}/effective-tag-bindings`,
    permission: read,
    summary: `List the tag bindings in effect on ${what}`,
    answers: 'effective-tag-bindings',
    isList: true,
    isUnpaged: true,
    address,
    load,
    document: async ({ tx, resource, call }) =>
      whole(call, (await resource.effective(tx)).map(effectiveTagBindingFragment)),
  })

/** Adds and changes bindings, or replaces all of them. */
const change = (
  { type, path, what, manage, address, load }: Kind,
  method: 'PATCH' | 'POST',
  place: (typeof places)[number],
) => {
  const isRelationship = place === 'relationships/tag-bindings'
  const isWhole = isRelationship && method === 'PATCH'
  return writeRoute({
    method,
    path: `${path}/${place}`,
    permission: manage,
    summary: `${isWhole ? 'Set' : 'Add to'} the tag bindings of ${what}`,
    ...(isRelationship
      ? { status: 204 }
      : { status: 200, answers: 'tag-bindings', isList: true, isUnpaged: true }),
    accepts: { items: tagBindingItem },
    address,
    load,
    body: (bytes: Uint8Array) => parseTagBindings(bytes),
    act: async (context) => {
      const { tx, resource, body, audit, call } = context
      const { organization, tagged, name } = resource
      await writeTagBindings(context, organization.id, tagged, body, isWhole)
      audit({
        action: `${type.slice(0, -1)}.bind-tags`,
        organizationId: organization.id,
        resourceType: type,
        resourceId: tagged.id,
        details: { name, keys: [...body.keys()], whole: isWhole },
      })
      return isRelationship ? noContent : whole(call, await ownBindings(tx, tagged))
    },
  })
}

export const tagBindingRoutes: readonly Route[] = [ofWorkspaces, ofProjects].flatMap((kind) => [
  ...places.map((place) => list(kind, place)),
  listEffective(kind),
  change(kind, 'PATCH', 'tag-bindings'),
  change(kind, 'POST', 'relationships/tag-bindings'),
  change(kind, 'PATCH', 'relationships/tag-bindings'),
])
