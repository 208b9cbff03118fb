import { isJsonObject, memberOf } from '../core/json-object.ts'
import { organizationFlags } from '../access/organization-flags.ts'
import { echoedAttributes } from '../organizations/organization-attributes.ts'
import { projectAccessSchemas, workspaceAccessSchemas } from '../team-access/project-levels.ts'
import { detailSchemas } from '../team-access/workspace-levels.ts'
import { workspaceSettings } from '../workspaces/workspace-settings.ts'

type Attributes = Record<string, unknown>

/**
 * The named attributes that the document has. All others are generated here or refer to objects that are not copied.
 */
function picked(given: Attributes, names: readonly string[]): Attributes {
  return Object.fromEntries(
    names
      .filter((name) => Object.hasOwn(given, name) && given[name] !== undefined)
      .map((name) => [name, given[name]]),
  )
}

const rulingAttributes = ['email', 'delegated-team-management', 'user-tokens-enabled', 'max-ttl-enabled']

export function organizationAttributes(given: Attributes): Attributes {
  return picked(given, [...rulingAttributes, ...Object.keys(echoedAttributes)])
}

export function projectAttributes(given: Attributes): Attributes {
  const names = ['description', 'auto-destroy-activity-duration']
  const attributes = picked(
    given,
    isOwn(given, 'default-execution-mode') ? [...names, 'default-execution-mode'] : names,
  )
  return { ...attributes, ...ownAgentPool(given, 'default-agent-pool') }
}

export function workspaceAttributes(given: Attributes): Attributes {
  const isInherited = given['inherits-project-auto-destroy'] === true
  const names = ['description', 'terraform-version', ...Object.keys(workspaceSettings)].filter(
    (name) => !(isInherited && name.startsWith('auto-destroy-')),
  )
  const attributes = picked(given, isOwn(given, 'execution-mode') ? [...names, 'execution-mode'] : names)
  return { ...attributes, ...ownAgentPool(given, 'agent-pool') }
}

function ownAgentPool(given: Attributes, name: string): Attributes {
  const overwrites = given['setting-overwrites'] as Attributes | null | undefined
  return overwrites?.[name] === true ? { 'setting-overwrites': { [name]: true } } : {}
}

/** Whether a setting is the workspace's or project's own, not inherited from its project or organization. */
function isOwn(given: Attributes, name: string): boolean {
  return memberOf(given['setting-overwrites'], name) !== false
}

export function teamAttributes(given: Attributes): Attributes {
  const flags = given['organization-access']
  return {
    ...picked(given, ['visibility', 'sso-team-id', 'allow-member-token-management']),
    ...(isJsonObject(flags) ? { 'organization-access': picked(flags, organizationFlags) } : {}),
  }
}

/** A fixed access level is complete; only custom access has details. */
export function workspaceAccessAttributes(given: Attributes): Attributes {
  return picked(given, given.access === 'custom' ? ['access', ...Object.keys(detailSchemas)] : ['access'])
}

export function projectAccessAttributes(given: Attributes): Attributes {
  if (given.access !== 'custom') return picked(given, ['access'])
  const details = (name: string, schemas: object) =>
    picked((given[name] ?? {}) as Attributes, Object.keys(schemas))
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
      const flags = (other ?? {}) as Attributes
      return Object.entries(value as Attributes)
        .filter(([flag, isOn]) => (flags[flag] ?? false) !== isOn)
        .map(([flag]) => flag)
    }
    if (name === 'setting-overwrites') return []
    return JSON.stringify(other ?? null) === JSON.stringify(value === '' ? (other ?? null) : value)
      ? []
      : [name]
  })
}
