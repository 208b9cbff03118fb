import { allFlags } from '../access/organization-flags.ts'
import { insertTeam } from '../teams/team-store.ts'
import { insertMembership } from '../organization-memberships/membership-store.ts'
import { insertProject } from '../projects/project-store.ts'
import type { newId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { insertTeamMember } from '../teams/team-member-store.ts'
import { OWNERS_TEAM } from '../teams/teams.ts'
import type { rulingColumns } from '../organizations/organization-attributes.ts'
import { insertOrganization, type OrganizationRow } from '../organizations/organization-store.ts'

const DEFAULT_PROJECT = 'Default Project'

type NewOrganization = {
  name: string
  email: string
  ruling?: ReturnType<typeof rulingColumns>
  /** JSON-ready attributes that are only stored and returned. */
  settings: Record<string, unknown>
  /** The user who becomes the first owner. */
  ownerId: string
  /** The current time, as text. */
  at: string
}

/** Creates an organization with team `owners`, `Default Project` and first owner. Undefined if the name is taken. */
export async function createOrganization(
  tx: Transaction,
  makeId: typeof newId,
  { name, email, ruling, settings, ownerId, at }: NewOrganization,
): Promise<OrganizationRow | undefined> {
  const id = makeId('organization')
  const ownersTeamId = makeId('team')
  const projectId = makeId('project')
  const times = { created_at: at, updated_at: at }
  const organization = await insertOrganization(tx, {
    id,
    name,
    email,
    teams_count: 1,
    visible_teams_count: 0,
    ...ruling,
    default_project_id: projectId,
    owners_team_id: ownersTeamId,
    settings: JSON.stringify(settings),
    ...times,
  })
  if (organization === undefined) return undefined
  await insertProject(tx, {
    id: projectId,
    organization_id: id,
    name: DEFAULT_PROJECT,
    description: null,
    settings: '{}',
    ...times,
  })
  await insertTeam(tx, {
    id: ownersTeamId,
    organization_id: id,
    name: OWNERS_TEAM,
    organization_access: allFlags,
    is_owners: 1,
    ...times,
  })
  const membershipId = makeId('membership')
  await insertMembership(tx, {
    id: membershipId,
    organization_id: id,
    user_id: ownerId,
    status: 'active',
    created_at: at,
  })
  await insertTeamMember(tx, {
    team_id: ownersTeamId,
    membership_id: membershipId,
    user_id: ownerId,
    organization_id: id,
    is_active: 1,
  })
  return organization
}
