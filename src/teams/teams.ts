import { isDelegate, isPermitted, type Standing, type Target } from '../access/decide.ts'
import type { Actor } from '../access/actor.ts'
import type { Config } from '../config.ts'
import type { Transaction } from '../database/database.ts'
import { NotPermitted } from '../access/not-permitted.ts'
import { AppError, type Problem } from '../core/errors.ts'
import { nameSchema, shortTextSchema } from '../core/names.ts'
import { oneOf, readResource, refuseBesideTakenName } from '../jsonapi/body.ts'
import { Type } from 'typebox'
import { applyFlagChanges, organizationAccessSchemas, type FlagChanges } from './organization-access.ts'
import { hasMemberTokenManagement, hasSsoTeamId } from './team-document.ts'
import { findTeamIdByName, type TeamRow } from './team-store.ts'

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

/** What is wrong with the body alone is in `problems`; what the team and its organization say against it comes later. */
export function readTeam(
  bytes: Uint8Array,
  shape: typeof teamBody,
  config: Config,
  pathId?: string,
): { changes: TeamChanges; problems: readonly Problem[] } {
  const { attributes: given, problems } = readResource(
    bytes,
    { ...shape, attributes: knownAttributes(config) },
    pathId,
  )
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
  detail: 'name is that of another team of the organization',
  pointer: '/data/attributes/name',
}

/** 422 for these problems, with that of a name which is another team's; by itself that one shows when it is written. */
export async function refuseTeam(
  tx: Transaction,
  organizationId: string,
  { name }: TeamChanges,
  problems: readonly Problem[],
  own?: TeamRow,
): Promise<void> {
  const findHolder = async () =>
    name === undefined || own?.is_owners === 1 ? undefined : findTeamIdByName(tx, organizationId, name)
  await refuseBesideTakenName(problems, NAME_IS_TAKEN, findHolder, own?.id)
}

/** A dry run leaves no trace: it must not tell whether a team that the caller does not see has the name. */
export function refuseNameInTrial({ seesSecretTeams }: Standing, { name }: TeamChanges): void {
  if (name === undefined || seesSecretTeams) return
  const detail = 'name can be tried only by a caller who sees all teams: leave name out, or dry-run'
  throw new AppError('bad-request', [{ detail }])
}

/** Rule 4 of the team `owners`: what makes it the owners' cannot be changed. */
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
 * The flags that a team gets: judged by the rules of specification 2.2, and by what the caller may grant. To whom the
 * organization delegated it, only flags that they have themselves. Whoever may not is answered 404.
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
