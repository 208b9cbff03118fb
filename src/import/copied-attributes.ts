import { organizationFlags } from '../access/organization-flags.ts'
import { isJsonObject, memberOf } from '../core/json-object.ts'
import { organizationBody } from '../organizations/organization-attributes.ts'
import { projectBody } from '../projects/projects.ts'
import { projectAccessSchemas, workspaceAccessSchemas } from '../team-access/project-levels.ts'
import { detailSchemas } from '../team-access/workspace-levels.ts'
import { teamBody } from '../teams/team-fields.ts'
import { workspaceBody } from '../workspaces/workspaces.ts'

type Attributes = Record<string, unknown>

/** A member that is an object; an empty one if it is missing. */
function objectOf(value: unknown): Attributes {
  return isJsonObject(value) ? value : {}
}

/**
 * The named attributes that the document has. All others are generated here or refer to objects that are not copied.
 */
export function picked(given: Attributes, names: readonly string[]): Attributes {
  return Object.fromEntries(
    names
      .filter((name) => Object.hasOwn(given, name) && given[name] !== undefined)
      .map((name) => [name, given[name]]),
  )
}

/** The attributes that a request may change, except those that have a rule of their own below. */
function changeable(body: { readonly attributes: object }, ruled: readonly string[]): string[] {
  return Object.keys(body.attributes).filter((name) => !ruled.includes(name))
}

const ofOrganization = changeable(organizationBody, ['name'])
const ofProject = changeable(projectBody, [
  'name',
  'default-execution-mode',
  'default-agent-pool-id',
  'setting-overwrites',
])
const ofWorkspace = changeable(workspaceBody, [
  'name',
  'execution-mode',
  'operations',
  'agent-pool-id',
  'setting-overwrites',
])
const ofTeam = changeable(teamBody, ['name', 'organization-access', 'allow-team-token-management'])

export function organizationAttributes(given: Attributes): Attributes {
  return picked(given, ofOrganization)
}

export function projectAttributes(given: Attributes): Attributes {
  const attributes = picked(
    given,
    isOwn(given, 'default-execution-mode') ? [...ofProject, 'default-execution-mode'] : ofProject,
  )
  return { ...attributes, ...ownAgentPool(given, 'default-agent-pool') }
}

export function workspaceAttributes(given: Attributes): Attributes {
  const isInherited = given['inherits-project-auto-destroy'] === true
  const names = ofWorkspace.filter((name) => !(isInherited && name.startsWith('auto-destroy-')))
  const attributes = picked(given, isOwn(given, 'execution-mode') ? [...names, 'execution-mode'] : names)
  return { ...attributes, ...ownAgentPool(given, 'agent-pool') }
}

function ownAgentPool(given: Attributes, name: string): Attributes {
  return memberOf(given['setting-overwrites'], name) === true
    ? { 'setting-overwrites': { [name]: true } }
    : {}
}

/** Whether a setting is the workspace's or project's own, not inherited from its project or organization. */
function isOwn(given: Attributes, name: string): boolean {
  return memberOf(given['setting-overwrites'], name) !== false
}

export function teamAttributes(given: Attributes): Attributes {
  const flags = given['organization-access']
  return {
    ...picked(given, ofTeam),
    ...(isJsonObject(flags) ? { 'organization-access': picked(flags, organizationFlags) } : {}),
  }
}

/** A fixed access level is complete; only custom access has details. */
export function workspaceAccessAttributes(given: Attributes): Attributes {
  return picked(given, given.access === 'custom' ? ['access', ...Object.keys(detailSchemas)] : ['access'])
}

export function projectAccessAttributes(given: Attributes): Attributes {
  if (given.access !== 'custom') return picked(given, ['access'])
  const details = (name: string, schemas: object) => picked(objectOf(given[name]), Object.keys(schemas))
  return {
    access: 'custom',
    'project-access': details('project-access', projectAccessSchemas),
    'workspace-access': details('workspace-access', workspaceAccessSchemas),
  }
}

/** Attributes whose actual value differs from the requested one. */
export function differences(asked: Attributes, actual: Attributes): string[] {
  return Object.entries(asked).flatMap(([name, value]) => {
    const other = actual[name]
    if (name === 'organization-access') {
      const flags = objectOf(other)
      return Object.entries(objectOf(value))
        .filter(([flag, isOn]) => (flags[flag] ?? false) !== isOn)
        .map(([flag]) => flag)
    }
    if (name === 'setting-overwrites') return []
    return JSON.stringify(other ?? null) === JSON.stringify(value === '' ? (other ?? null) : value)
      ? []
      : [name]
  })
}
