import { memberOf } from '../core/json-object.ts'
import { Type } from 'typebox'
import { DEFAULT_MAX_TTL_MS, ttlKinds, type TtlKind } from '../access/token-policy.ts'
import { AppError, type Problem } from '../core/errors.ts'
import { refuse } from '../jsonapi/body.ts'
import { parseJson } from '../jsonapi/json.ts'
import { type ResourceDescription } from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import type { OrganizationRow } from './organization-store.ts'

const TYPE = 'organization-token-ttl-policies'
/** From one minute, because an example of the tfe provider is half an hour, up to a hundred years. */
const MIN_TTL_MS = 60_000
const MAX_TTL_MS = 100 * 365 * 86_400_000
const MAX_POLICIES = 100

export const ttlPolicyDescription: ResourceDescription = {
  type: TYPE,
  attributes: {
    'token-type': Type.Union(ttlKinds.map((kind) => Type.Literal(kind))),
    'max-ttl-ms': Type.Integer(),
  },
}

/** The body as go-tfe sends it. */
export const ttlPolicyBody = {
  type: TYPE,
  attributes: {
    'token-ttl-policies': Type.Array(
      Type.Object({
        'token-type': Type.Union(ttlKinds.map((kind) => Type.Literal(kind))),
        'max-ttl-ms': Type.Integer({ minimum: MIN_TTL_MS, maximum: MAX_TTL_MS }),
      }),
      { minItems: 1, maxItems: MAX_POLICIES },
    ),
  },
}

/** The only function that builds `"type": "organization-token-ttl-policies"`. One per kind, in force or not. */
export function ttlPolicyFragments(organization: OrganizationRow): Fragment[] {
  return ttlKinds.map((kind) =>
    fragment({
      id: `ttl-${kind}-${organization.id.slice('org-'.length)}`,
      type: TYPE,
      attributes: {
        'token-type': kind,
        'max-ttl-ms': organization[`max_ttl_${kind}_ms`] ?? DEFAULT_MAX_TTL_MS,
      },
    }),
  )
}

type TtlChanges = Partial<Record<TtlKind, number>>

/**
 * Clients send two forms: `data` is one resource with a list in `token-ttl-policies`, or `data` is a list of resources,
 * one per policy. Kinds left out keep their value. The last entry of a repeated kind counts.
 */
export function parseTtlPolicies(bytes: Uint8Array): TtlChanges {
  const json = parseJson(bytes)
  const data = memberOf(json, 'data')
  const isMany = Array.isArray(data)
  const problems: Problem[] = []
  const checkType = (item: unknown, pointer: string) => {
    if (memberOf(item, 'type') !== TYPE) problems.push({ detail: `type must be "${TYPE}"`, pointer })
  }
  if (!isMany) checkType(data, '/data/type')
  const place = isMany ? '/data' : '/data/attributes/token-ttl-policies'
  const items: unknown = isMany ? data : memberOf(memberOf(data, 'attributes'), 'token-ttl-policies')
  if (!Array.isArray(items) || items.length === 0 || items.length > MAX_POLICIES) {
    const name = isMany ? 'data' : 'token-ttl-policies'
    throw new AppError('invalid', [
      ...problems,
      { detail: `${name} must be a list of 1 to ${MAX_POLICIES} policies`, pointer: place },
    ])
  }
  const changes: TtlChanges = {}
  items.forEach((item: unknown, index) => {
    if (isMany) checkType(item, `/data/${index}/type`)
    const pointer = `${place}/${index}${isMany ? '/attributes' : ''}`
    const policy = isMany ? memberOf(item, 'attributes') : item
    const given = memberOf(policy, 'token-type')
    const kind = ttlKinds.find((one) => one === given)
    if (kind === undefined) {
      problems.push({
        detail: `token-type must be ${ttlKinds.map((one) => `"${one}"`).join(' or ')}`,
        pointer: `${pointer}/token-type`,
      })
    }
    const ms = memberOf(policy, 'max-ttl-ms')
    if (typeof ms !== 'number' || !Number.isInteger(ms) || ms < MIN_TTL_MS || ms > MAX_TTL_MS) {
      problems.push({
        detail: `max-ttl-ms must be a whole number from ${MIN_TTL_MS} (a minute) to ${MAX_TTL_MS} (a hundred years)`,
        pointer: `${pointer}/max-ttl-ms`,
      })
    } else if (kind !== undefined) changes[kind] = ms
  })
  refuse(problems)
  return changes
}
