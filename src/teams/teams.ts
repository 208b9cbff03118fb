import { isPermitted, columnSet, type Standing } from '../access/decide.ts'
import type { Actor } from '../access/actor.ts'
import { hasFlag, knownFlags } from '../access/organization-flags.ts'
import type { Config } from '../config.ts'
import { AppError, invalid, notFound, type Problem } from '../core/errors.ts'
import { nameSchema, shortTextSchema } from '../core/names.ts'
import { oneOf, parseResource } from '../jsonapi/body.ts'
import { Type } from 'typebox'
import { applyFlagChanges, organizationAccessSchemas, type FlagChanges } from './organization-access.ts'
import { hasMemberTokenManagement, hasSsoTeamId } from './team-document.ts'
import { teamFacts, type TeamRow } from './team-store.ts'

const attributes = {
  name: nameSchema,
  'sso-team-id': shortTextSchema,
  visibility: oneOf('secret', 'organization'),
  'organization-access': organizationAccessSchemas.current,
  'allow-member-token-management': Type.Boolean(),
  // The specification's request table names this key, its samples the other; both are taken.
  'allow-team-token-management': Type.Boolean(),
}

export const teamBody = { type: 'teams', attributes }
export const newTeamBody = { ...teamBody, required: ['name'] as const }

/** What a request asks of a team; members that were left out keep their value. */
export type TeamChanges = {
  name?: string
  ssoTeamId?: string | null
  visibility?: 'secret' | 'organization'
  flags?: FlagChanges
  allowMemberTokenManagement?: boolean
}

/** What the dialect or the emulated release does not know is ignored, whatever it is. */
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
  return known as typeof attributes
}

export function parseTeam(
  bytes: Uint8Array,
  shape: typeof teamBody,
  config: Config,
  pathId?: string,
): TeamChanges {
  const { attributes: given } = parseResource(
    bytes,
    { ...shape, attributes: knownAttributes(config) },
    pathId,
  )
  const member = given['allow-member-token-management']
  const team = given['allow-team-token-management']
  if (member !== undefined && team !== undefined && member !== team) {
    throw invalid(
      'allow-member-token-management and allow-team-token-management mean the same and must not differ',
      '/data/attributes/allow-team-token-management',
    )
  }
  const changes: TeamChanges = {
    name: given.name,
    visibility: given.visibility,
    flags: given['organization-access'],
  }
  if (given['sso-team-id'] !== undefined) changes.ssoTeamId = given['sso-team-id'] || null
  changes.allowMemberTokenManagement = member ?? team
  return changes
}

/** Rule 4 of the team `owners`: what makes it the owners' cannot be changed. */
export function refuseChangeOfOwners(changes: TeamChanges): void {
  const problems: Problem[] = []
  const refuse = (isAsked: boolean, name: string) => {
    if (isAsked)
      problems.push({
        detail: `${name} of the team owners cannot be changed`,
        pointer: `/data/attributes/${name}`,
      })
  }
  refuse(changes.name !== undefined, 'name')
  refuse(changes.visibility !== undefined, 'visibility')
  refuse(changes.flags !== undefined, 'organization-access')
  if (problems.length > 0) throw new AppError('invalid', problems)
}

const undelegated = columnSet('SA', 'OW', 'OG')

/**
 * The flags that a team gets: judged by the rules of specification 2.2, and by what the caller may grant. To whom the
 * organization delegated it, only flags that he has himself. Whoever may not is answered 404.
 */
export function grantFlags(
  before: number,
  changes: FlagChanges,
  caller: { actor: Actor; standing: Standing; team?: TeamRow },
  dialect: Config['dialect'],
): number {
  const { actor, standing, team } = caller
  const target = team === undefined ? {} : { team: teamFacts(team) }
  if (!isPermitted('team:grant', actor, standing, target)) throw notFound()
  const after = applyFlagChanges(before, changes, dialect)
  const changed = before ^ after
  const isDelegated = (standing.columns & undelegated) === 0
  if (
    isDelegated &&
    knownFlags(dialect).some((flag) => hasFlag(changed, flag) && !hasFlag(standing.flags, flag))
  ) {
    throw notFound()
  }
  return after
}
