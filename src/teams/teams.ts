import { isDelegate, isPermitted, type Standing, type Target } from '../access/decide.ts'
import type { FlagSet } from '../access/organization-flags.ts'
import type { Viewer } from '../http/route.ts'
import { NotPermitted } from '../access/not-permitted.ts'
import { badRequest, type Problem } from '../core/errors.ts'
import { nameIsTaken } from '../jsonapi/body.ts'
import { applyFlagChanges } from './organization-access.ts'
import type { TeamChanges } from './team-fields.ts'
import type { TeamRow } from './team-store.ts'

/** The name of the team that an organization is created with. */
export const OWNERS_TEAM = 'owners'

export const NAME_IS_TAKEN = nameIsTaken('team')

/**
 * A name that differs from `owners` only by case looks like the team whose members may do everything. A team that has one
 * from before this rule may keep it.
 */
export function problemsOfName({ name }: TeamChanges, before?: string): Problem[] {
  if (name === undefined || name === before || name === OWNERS_TEAM) return []
  if (name.toLowerCase() !== OWNERS_TEAM) return []
  const detail = `name differs from that of the team ${OWNERS_TEAM} only by upper and lower case`
  return [{ detail, pointer: '/data/attributes/name' }]
}

/** A dry run is not in the audit trail. It must not tell a caller whether a team that they cannot see has the name. */
export function refuseNameInDryRun({ seesSecretTeams }: Standing, { name }: TeamChanges): void {
  if (name === undefined || seesSecretTeams) return
  const detail = 'a dry run with name is only for callers who see all teams; leave out name or dry-run'
  throw badRequest(detail)
}

/** The attributes that make `owners` the owners' team cannot be changed. Clients send them unchanged with others. */
export function problemsOfOwners(changes: TeamChanges, { name, visibility }: TeamRow): Problem[] {
  const problems: Problem[] = []
  const refuseChange = (isAsked: boolean, name: string) => {
    if (isAsked)
      problems.push({
        detail: `${name} of the team owners cannot be changed`,
        pointer: `/data/attributes/${name}`,
      })
  }
  refuseChange((changes.name ?? name) !== name, 'name')
  refuseChange((changes.visibility ?? visibility) !== visibility, 'visibility')
  refuseChange(Object.values(changes.flags ?? {}).includes(false), 'organization-access')
  return problems
}

type Granting = Omit<Viewer, 'tx'> & {
  readonly resource: { readonly target: Target }
  readonly body: { readonly changes: TeamChanges }
}

/**
 * The flags that a team gets, checked for contradictions and for what the caller may give. A delegate may only give
 * flags that they have. Throws 404 if the caller may not.
 */
export function grantFlags(
  { actor, standing, deps, resource: { target }, body }: Granting,
  before: FlagSet,
): { flags: FlagSet; problems: Problem[] } {
  const { flags: changes } = body.changes
  if (changes === undefined) return { flags: before, problems: [] }
  if (!isPermitted('team:grant', actor, standing, target)) throw new NotPermitted('team:grant', target)
  const after = applyFlagChanges(before, changes, deps.config.dialect)
  const changed = before ^ after.flags
  if (isDelegate(standing) && (changed & standing.lacks) !== 0) throw new NotPermitted('team:grant', target)
  return after
}
