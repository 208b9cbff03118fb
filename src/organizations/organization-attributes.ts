import { parseStored } from '../core/stored-json.ts'
import { Type, type TSchema } from 'typebox'
import type { Config } from '../config.ts'
import type { Problem } from '../core/errors.ts'
import type { Flag } from '../database/tables.ts'
import { emailSchema, nameSchema, shortTextSchema } from '../core/names.ts'
import { oneOf } from '../jsonapi/body.ts'

export const NAME_IS_TAKEN: Problem = {
  detail: 'name is already used by another organization',
  pointer: '/data/attributes/name',
}

type EchoedAttribute = { schema: TSchema & { explain?: string }; initial: unknown }

const flag = (initial: boolean): EchoedAttribute => ({ schema: Type.Boolean(), initial })
const optionalMinutes: EchoedAttribute = {
  schema: Type.Union([Type.Integer({ minimum: 1, maximum: 10_000_000 }), Type.Null()], {
    explain: 'must be a whole number of minutes, or null',
  }),
  initial: null,
}

/** For attributes that promise a protection which this server lacks. Any other value is refused instead of stored. */
const only = (value: boolean | string): EchoedAttribute => ({
  schema: Type.Literal(value, {
    explain: `must be ${JSON.stringify(value)}: this server does not enforce another value`,
  }),
  initial: value,
})

/**
 * Attributes that the server stores and returns but does not use. To add one, add a line here. Defaults are not stored,
 * so a changed default applies to all organizations.
 */
const echoedAttributes = {
  // The tfe provider sends it with a new organization only if it is true.
  'aggregated-commit-status-enabled': flag(false),
  'allow-force-delete-workspaces': flag(false),
  'assessments-enforced': flag(false),
  'collaborator-auth-policy': only('password'),
  'cost-estimation-enabled': flag(false),
  'default-execution-mode': {
    schema: oneOf('remote', 'local', 'agent'),
    initial: ({ dialect }: Config) => (dialect === 'documented' ? 'local' : 'remote'),
  },
  'enforce-hyok': only(false),
  'owners-team-saml-role-id': { schema: shortTextSchema, initial: null },
  'send-passing-statuses-for-untriggered-speculative-plans': flag(false),
  'session-remember': optionalMinutes,
  'session-timeout': optionalMinutes,
  'speculative-plan-management-enabled': flag(true),
  'stacks-enabled': flag(false),
} satisfies Record<string, EchoedAttribute>

/** The other attributes of the platform. Nothing in this server changes them. */
export const fixedAttributes = {
  'fair-run-queuing-enabled': false,
  'is-in-degraded-mode': false,
  'is-unified': false,
  'plan-expired': false,
  'plan-expires-at': null,
  'plan-is-enterprise': false,
  'plan-is-trial': false,
  'remaining-testable-count': 0,
  'saml-enabled': false,
  'trial-expires-at': null,
  'two-factor-conformant': false,
} as const

export const echoedSchemas: Record<string, EchoedAttribute['schema']> = Object.fromEntries(
  Object.entries(echoedAttributes).map(([name, { schema }]) => [name, schema]),
)

export const organizationBody = {
  type: 'organizations',
  attributes: {
    name: nameSchema,
    email: emailSchema,
    // Not part of the platform. Lets teams with manage-teams or manage-organization-access manage teams.
    'delegated-team-management': Type.Boolean(),
    'user-tokens-enabled': Type.Boolean(),
    'max-ttl-enabled': Type.Boolean(),
    ...(echoedSchemas as {}),
  },
  relationships: {
    'default-agent-pool': Type.Object(
      { data: Type.Null() },
      { explain: 'must be {"data": null}: this server has no agent pools' },
    ),
  },
}
export const newOrganizationBody = { ...organizationBody, required: ['name', 'email'] as const }

type Ruling = Partial<
  Record<'delegated-team-management' | 'user-tokens-enabled' | 'max-ttl-enabled', boolean>
>

/** The columns of the attributes that change how the server behaves. */
export function rulingColumns(given: Ruling) {
  const flag = (value: boolean | undefined): Flag | undefined =>
    value === undefined ? undefined : value ? 1 : 0
  return {
    delegated_team_management: flag(given['delegated-team-management']),
    user_tokens_enabled: flag(given['user-tokens-enabled']),
    max_ttl_enabled: flag(given['max-ttl-enabled']),
  }
}

/** The echoed attributes of a request. Null means the default again. */
export function echoedOf(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(echoedAttributes).flatMap((name) => (name in given ? [[name, given[name]]] : [])),
  )
}

/** All echoed attributes. Those that were never set have their default. */
export function settingsOf(stored: string, config: Config): Record<string, unknown> {
  const settings = parseStored<Record<string, unknown>>(stored)
  return Object.fromEntries(
    Object.entries(echoedAttributes).map(([name, { initial }]) => [
      name,
      settings[name] ?? (typeof initial === 'function' ? initial(config) : initial),
    ]),
  )
}
