import { Type } from 'typebox'
import { parseTimestamp } from '../core/clock.ts'
import type { Problem } from '../core/errors.ts'
import { shortTextSchema } from '../core/names.ts'
import type { Explained } from '../jsonapi/body-values.ts'
import { autoDestroyDuration } from '../projects/workspace-defaults.ts'

type Setting = { schema: Explained; default: unknown }

const MAX_LIST_ITEMS = 100

const flag = (initial: boolean) => ({ schema: Type.Boolean(), default: initial })
const text = (initial: string | null) => ({ schema: shortTextSchema, default: initial })
const texts = {
  schema: Type.Array(Type.String({ maxLength: 255 }), {
    maxItems: MAX_LIST_ITEMS,
    explain: `must be at most ${MAX_LIST_ITEMS} texts of at most 255 characters`,
  }),
  default: [],
}
const AUTO_DESTROY_AT = 'must be a time such as 2030-01-31T12:00:00Z, or null'

/**
 * Attributes of a workspace that are stored and returned but not used, because clients set them and expect them back.
 * They are in the `settings` column. An attribute that was never set has its default.
 */
const workspaceSettings = {
  'allow-destroy-plan': flag(true),
  'assessments-enabled': flag(false),
  'auto-apply': flag(false),
  'auto-apply-run-trigger': flag(false),
  'auto-destroy-activity-duration': { schema: autoDestroyDuration, default: null },
  'auto-destroy-at': {
    schema: Type.Union([Type.String({ maxLength: 40 }), Type.Null()], { explain: AUTO_DESTROY_AT }),
    default: null,
  },
  'file-triggers-enabled': flag(true),
  'global-remote-state': flag(false),
  'hyok-enabled': flag(false),
  'inherits-project-auto-destroy': flag(true),
  'migration-environment': text(null),
  'project-remote-state': flag(false),
  'queue-all-runs': flag(false),
  'source-name': text(null),
  'source-url': text(null),
  'speculative-enabled': flag(true),
  'structured-run-output-enabled': flag(true),
  'trigger-patterns': texts,
  'trigger-prefixes': texts,
  'vcs-repo': {
    // pytfe always sends an object, even an empty one.
    schema: Type.Union([Type.Null(), Type.Literal(''), Type.Object({}, { additionalProperties: false })], {
      explain: 'must be null: this server is connected to no version control',
    }),
    default: null,
  },
  'working-directory': text(''),
} satisfies Record<string, Setting>

type WorkspaceSetting = keyof typeof workspaceSettings

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same names
export const settingSchemas = Object.fromEntries(
  Object.entries(workspaceSettings).map(([name, { schema }]) => [name, schema]),
) as { [N in WorkspaceSetting]: (typeof workspaceSettings)[N]['schema'] }

const defaults: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(workspaceSettings).map(([name, setting]) => [name, setting.default]),
)

/** All of these settings, with defaults for those that are not stored. */
export function echoedSettings(stored: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const echoed: Record<string, unknown> = { ...defaults }
  for (const name of Object.keys(defaults)) if (Object.hasOwn(stored, name)) echoed[name] = stored[name]
  return echoed
}

type GivenSettings = Readonly<Record<string, unknown>> & {
  readonly 'trigger-patterns'?: string[]
  readonly 'trigger-prefixes'?: string[]
  readonly 'auto-destroy-at'?: string | null
}

/** The settings of a request, as the column stores them. What is wrong goes to `problems`. */
export function givenSettings(given: GivenSettings, problems: Problem[]): Record<string, unknown> {
  return {
    ...Object.fromEntries(
      Object.keys(defaults)
        .filter((name) => given[name] !== undefined)
        .map((name) => [name, isNothing(given[name]) && defaults[name] === null ? null : given[name]]),
    ),
    ...triggers(given['trigger-patterns'], given['trigger-prefixes'], problems),
    ...autoDestroy(given, problems),
  }
}

function isNothing(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}

/**
 * A workspace either has its own time or duration, or inherits the project's. A request that sets one clears the other.
 * The tfe provider only reads `inherits-project-auto-destroy`, so the server derives it.
 */
function autoDestroy(given: GivenSettings, problems: Problem[]): Record<string, unknown> {
  const pointer = '/data/attributes/auto-destroy-at'
  const asked = given['auto-destroy-at']
  const at = asked && (parseTimestamp(asked) ?? '')
  if (at === '') problems.push({ detail: `auto-destroy-at ${AUTO_DESTROY_AT}`, pointer })
  const hasOwn = Boolean(at) || Boolean(given['auto-destroy-activity-duration'])
  const inherits = given['inherits-project-auto-destroy']
  if (inherits === true) {
    const detail = 'a workspace that inherits auto-destroy from its project has none of its own'
    if (hasOwn) problems.push({ detail, pointer: '/data/attributes/inherits-project-auto-destroy' })
    return { 'auto-destroy-at': null, 'auto-destroy-activity-duration': null }
  }
  return {
    ...(at === undefined ? {} : { 'auto-destroy-at': at }),
    ...(hasOwn ? { 'inherits-project-auto-destroy': false } : {}),
  }
}

/** Two ways to say the same. A client that writes one of them, even empty, expects the other to be empty afterwards. */
function triggers(
  patterns: string[] | undefined,
  prefixes: string[] | undefined,
  problems: Problem[],
): Record<string, unknown> {
  if (patterns === undefined && prefixes === undefined) return {}
  if (patterns?.length && prefixes?.length) {
    problems.push({
      detail: 'trigger-patterns cannot be set together with trigger-prefixes',
      pointer: '/data/attributes/trigger-patterns',
    })
  }
  return { 'trigger-patterns': patterns ?? [], 'trigger-prefixes': prefixes ?? [] }
}
