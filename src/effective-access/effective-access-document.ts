import { Type } from 'typebox'
import { organizationFlags } from '../access/organization-flags.ts'
import { oneOf } from '../jsonapi/body.ts'
import { closedObject, flagObjectOf, relationOne, type ResourceDescription } from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import { grantedBySchema, shownGrantedBy } from '../refusals/granted-by-document.ts'
import type { NameOf } from '../refusals/refusal-text.ts'
import { projectAccessSchemas, workspaceAccessSchemas } from '../team-access/project-levels.ts'
import { detailSchemas } from '../team-access/workspace-levels.ts'
import { sumOfProjectDetails, sumOfWorkspaceDetails } from './details.ts'
import type { Holder, Source } from './holdings.ts'
import {
  actionsOn,
  heldEverywhere,
  levelNames,
  levelOn,
  namesOfActions,
  projectActions,
  shownActions,
  workspaceActions,
  type Held,
  type On,
} from './levels.ts'
import type { MissingActions } from './missing-actions.ts'
import type { NamedPlace } from './places.ts'

export const levelSchema = oneOf(...levelNames)

const runs = oneOf('none', 'read', 'plan', 'apply')
const onlyOfWorkspaces = Object.fromEntries(
  Object.entries({ ...detailSchemas, runs }).map(([name, schema]) => [name, Type.Optional(schema)]),
)

export const maySchemas = {
  may: flagObjectOf([...new Set([...Object.keys(workspaceActions), ...Object.keys(projectActions)])]),
  // Only for a project.
  'may-in-workspaces': Type.Optional(flagObjectOf(Object.keys(workspaceActions))),
}

export const sourcesSchema = Type.Array(
  closedObject({
    source: oneOf(
      'site-administrator',
      'organization-member',
      'organization-owner',
      'organization-access',
      'team-projects',
      'team-workspaces',
    ),
    id: Type.Optional(Type.String()),
    team: Type.Optional(closedObject({ id: Type.String(), name: Type.String() })),
    flag: Type.Optional(oneOf(...organizationFlags)),
    access: Type.Optional(oneOf('read', 'plan', 'write', 'maintain', 'admin', 'custom')),
    level: levelSchema,
    gives: Type.Array(Type.String()),
  }),
)

export const effectiveAccessDescription: ResourceDescription = {
  type: 'effective-access',
  attributes: {
    name: Type.String(),
    level: levelSchema,
    // Only for a workspace.
    ...onlyOfWorkspaces,
    // Only for a project.
    'project-access': Type.Optional(
      closedObject({ ...projectAccessSchemas, settings: oneOf('none', 'read', 'update', 'delete') }),
    ),
    'workspace-access': Type.Optional(closedObject({ ...workspaceAccessSchemas, runs })),
    ...maySchemas,
    grants: sourcesSchema,
    // Only in the answer about one workspace or project: by the name of each action that is not permitted.
    'granted-by': Type.Optional(Type.Object({}, { additionalProperties: grantedBySchema })),
  },
  relationships: {
    user: Type.Optional(relationOne('users')),
    team: Type.Optional(relationOne('teams')),
    workspace: Type.Optional(relationOne('workspaces')),
    project: relationOne('projects'),
  },
}

/** All access of a user or team to a place, and its sources. */
export type EffectiveAccess = {
  readonly holder: Holder
  readonly place: NamedPlace
  readonly held: Held
  readonly sources: readonly Source[]
  /** Only for an answer about one place. */
  readonly missing?: { readonly actions: MissingActions; readonly nameOf: NameOf }
}

/** The only function that builds `"type": "effective-access"`, of teams and places that the caller may see. */
export function effectiveAccessFragment({
  holder,
  place,
  held,
  sources,
  missing,
}: EffectiveAccess): Fragment {
  const { on, id, projectId, name } = place
  const details = on === 'workspace' ? sumOfWorkspaceDetails(sources) : sumOfProjectDetails(sources)
  const data = { id: holder.id, type: `${holder.kind}s` }
  return fragment({
    id: `${holder.id}:${id}`,
    type: 'effective-access',
    attributes: {
      name,
      level: levelOn(on, held),
      ...details,
      ...shownMay(on, held),
      grants: shownSources(on, sources),
      'granted-by': missing && grantedBy(missing),
    },
    relationships: {
      [holder.kind]: { data },
      ...(on === 'workspace' ? { workspace: { data: { id, type: 'workspaces' } } } : {}),
      project: { data: { id: projectId, type: 'projects' } },
    },
  })
}

function grantedBy({ actions, nameOf }: NonNullable<EffectiveAccess['missing']>): Record<string, object[]> {
  return Object.fromEntries(
    Object.entries(actions).map(([name, needed]) => [name, shownGrantedBy(needed, nameOf)]),
  )
}

/** What somebody may do on a place, by name. */
export function shownMay(on: On, held: Held): Record<string, Record<string, boolean>> {
  const actions = actionsOn(on, held)
  if (on === 'workspace') return { may: shownActions(workspaceActions, actions) }
  const inWorkspaces = actionsOn('workspace', heldEverywhere(held.inWorkspaces))
  return {
    may: shownActions(projectActions, actions),
    'may-in-workspaces': shownActions(workspaceActions, inWorkspaces),
  }
}

/** An organization-wide source is shown only if it allows something here: managing members opens no workspace. */
export function shownSources(on: On, sources: readonly Source[]): object[] {
  return sources
    .filter(({ grant, held: alone }) => grant !== undefined || actionsOn(on, alone) !== 0)
    .map(({ source, held: alone, team, flag, grant }) => ({
      source,
      id: grant?.id,
      team: team && { id: team.id, name: team.name },
      flag,
      access: grant?.access,
      level: levelOn(on, alone),
      gives: namesOfActions(on, actionsOn(on, alone)),
    }))
}
