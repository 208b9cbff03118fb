import { isDelegate, isPermitted, type Standing, type Target } from '../access/decide.ts'
import type { Actor } from '../access/actor.ts'
import type { Config } from '../config.ts'
import { NotPermitted } from '../access/not-permitted.ts'
import { AppError, type Problem } from '../core/errors.ts'
import { nameSchema, shortTextSchema } from '../core/names.ts'
import { oneOf, readResource, type ReadBody } from '../jsonapi/body.ts'
import { Type } from 'typebox'
import { applyFlagChanges, organizationAccessSchemas, type FlagChanges } from './organization-access.ts'
import { hasMemberTokenManagement, hasSsoTeamId } from './team-document.ts'

/** The name of the team that an organization is created with. */
export const OWNERS_TEAM = 'owners'

const attributes = {
  name: nameSchema,
  'sso-team-id': shortTextSchema,
  visibility: oneOf('secret', 'organization'),
  'organization-access': organizationAccessSchemas.current,
  'allow-member-token-management': Type.Boolean(),
  // The platform's documentation names both keys for this attribute, so both are accepted.
  'allow-team-token-management': Type.Boolean(),
}

export const teamBody = { type: 'teams', attributes }
export const newTeamBody = { ...teamBody, required: ['name'] as const }

/** The attributes that a request changes. Attributes left out keep their value. */
export type TeamChanges = {
  name?: string
  ssoTeamId?: string | null
  visibility?: 'secret' | 'organization'
  flags?: FlagChanges
  allowMemberTokenManagement?: boolean
}

/** Attributes that the dialect or the emulated release does not know are ignored, whatever their value. */
function knownAttributes(config: Config): typeof attributes {
  const known: Partial<typeof attributes> = {
    ...attributes,
    'organization-access': organizationAccessSchemas[config.dialect],
  }
  if (!hasSsoTeamId(config)) delete known['sso-team-id']
  if (!hasMemberTokenManagement(config)) {
    delete known['allow-member-token-management']
    delete known['allow-team-token-management']
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of the body stays that of all attributes
  return known as typeof attributes
}

/** A changed team, and the problems that need no database to find. */
export function readTeam(bytes: Uint8Array, config: Config, pathId: string | undefined) {
  return changesIn(readResource(bytes, { ...teamBody, attributes: knownAttributes(config) }, pathId))
}

/** The same for a new team, which needs a name. */
export function readNewTeam(bytes: Uint8Array, config: Config) {
  const body = readResource(bytes, { ...newTeamBody, attributes: knownAttributes(config) })
  const { changes, problems } = changesIn(body)
  return { changes: { ...changes, name: body.attributes.name }, problems }
}

function changesIn({ attributes: given, problems }: ReadBody<typeof teamBody>): {
  changes: TeamChanges
  problems: Problem[]
} {
  const member = given['allow-member-token-management']
  const team = given['allow-team-token-management']
  if (member !== undefined && team !== undefined && member !== team) {
    problems.push({
      detail:
        'allow-member-token-management and allow-team-token-management mean the same and must not differ',
      pointer: '/data/attributes/allow-team-token-management',
    })
  }
  const changes: TeamChanges = {
    name: given.name,
    visibility: given.visibility,
    flags: given['organization-access'],
  }
  if (given['sso-team-id'] !== undefined) changes.ssoTeamId = given['sso-team-id'] || null
  changes.allowMemberTokenManagement = member ?? team
  return { changes, problems }
}

export const NAME_IS_TAKEN: Problem = {
  detail: 'name is already used by another team of the organization',
  pointer: '/data/attributes/name',
}

/** A dry run is not in the audit trail. It must not tell a caller whether a team that they cannot see has the name. */
export function refuseNameInDryRun({ seesSecretTeams }: Standing, { name }: TeamChanges): void {
  if (name === undefined || seesSecretTeams) return
  const detail = 'a dry run with name is only for callers who see all teams; leave out name or dry-run'
  throw new AppError('bad-request', [{ detail }])
}

/** The attributes that make `owners` the owners' team cannot be changed. */
export function problemsOfOwners(changes: TeamChanges): Problem[] {
  const problems: Problem[] = []
  const refuseChange = (isAsked: boolean, name: string) => {
    if (isAsked)
      problems.push({
        detail: `${name} of the team owners cannot be changed`,
        pointer: `/data/attributes/${name}`,
      })
  }
  refuseChange(changes.name !== undefined, 'name')
  refuseChange(changes.visibility !== undefined, 'visibility')
  refuseChange(changes.flags !== undefined, 'organization-access')
  return problems
}

/**
 * The flags that a team gets, checked for contradictions and for what the caller may give. A delegate may only give
 * flags that they have. Throws 404 if the caller may not.
 */
export function grantFlags(
  before: number,
  changes: FlagChanges | undefined,
  { actor, standing, target }: { actor: Actor; standing: Standing; target: Target },
  dialect: Config['dialect'],
): { flags: number; problems: Problem[] } {
  if (changes === undefined) return { flags: before, problems: [] }
  if (!isPermitted('team:grant', actor, standing, target)) throw new NotPermitted('team:grant', target)
  const after = applyFlagChanges(before, changes, dialect)
  const changed = before ^ after.flags
  if (isDelegate(standing) && (changed & standing.lacks) !== 0) throw new NotPermitted('team:grant', target)
  return after
}
