// Makes many projects of an organization, or many organizations, for the measurements of growth.
import { allFlags } from '../src/access/organization-flags.ts'
import { newId } from '../src/core/ids.ts'
import type { Database } from '../src/database/database.ts'
import { bumpVersion } from '../src/organizations/organization-store.ts'
import { changeProjectGrant } from '../src/team-access/project-levels.ts'
import { toColumns } from '../src/team-access/team-project-store.ts'
import { OWNERS_TEAM } from '../src/teams/teams.ts'
import { insertMany, OLD, organizationOf } from './bulk.ts'
import { createPerson, teamName, type Organization, type Person } from './seed.ts'

export type WithProjects = { readonly organization: Organization; readonly projectIds: readonly string[] }

/** An organization with this many projects more. A team of the member has a grant on each of them. */
export async function withProjects(database: Database, count: number): Promise<WithProjects> {
  const organization = await organizationOf(database, `grown-projects-${count}`)
  return { organization, ...(await addProjects(database, organization, count)) }
}

/** Adds this many projects. A team of the member has a grant on each of them. */
export async function addProjects(database: Database, organization: Organization, count: number) {
  const projectIds = Array.from({ length: count }, () => newId('project'))
  const idOf = (number: number) => projectIds[number] ?? ''
  await insertMany(database, 'projects', count, (number) => ({
    ...OLD,
    id: idOf(number),
    organization_id: organization.id,
    name: teamName(number),
    settings: '{}',
  }))
  const grant = toColumns(changeProjectGrant(undefined, { access: 'read', project: {}, workspace: {} }))
  const projectGrantIds = projectIds.map(() => newId('teamProject'))
  await insertMany(database, 'team_projects', count, (number) => ({
    id: projectGrantIds[number] ?? '',
    organization_id: organization.id,
    team_id: organization.memberTeams[1]?.id ?? '',
    project_id: idOf(number),
    ...grant,
    created_at: OLD.created_at,
  }))
  await database.write((tx) => bumpVersion(tx, organization.id))
  return { projectIds, projectGrantIds }
}

export type WithOrganizations = {
  readonly organization: Organization
  /** A site administrator who is in no organization. */
  readonly admin: Person
}

/**
 * Adds organizations, each with an owner, until the site has this many, besides a few. Returns one that was made as a
 * client makes it.
 */
export async function withOrganizations(database: Database, size: number): Promise<WithOrganizations> {
  const organization = await organizationOf(database, `grown-site-${size}`)
  const admin = await createAdmin(database, `admin-of-${size}`)
  const { known } = await database.read((tx) =>
    tx.db
      .selectFrom('organizations')
      .select((row) => row.fn.countAll<number>().as('known'))
      .executeTakeFirstOrThrow(),
  )
  await addOrganizations(database, known, size)
  return { organization, admin }
}

/** A site administrator. */
export function createAdmin(database: Database, username: string): Promise<Person> {
  return database.write(async (tx) => {
    const person = await createPerson(tx, username)
    await tx.db.updateTable('users').set({ is_site_admin: 1 }).where('id', '=', person.id).execute()
    return person
  })
}

async function addOrganizations(database: Database, from: number, to: number): Promise<void> {
  const count = Math.max(0, to - from)
  const ids = Array.from({ length: count }, () => ({
    organization: newId('organization'),
    project: newId('project'),
    team: newId('team'),
    user: newId('user'),
    membership: newId('membership'),
  }))
  const of = (number: number) => {
    const own = ids[number]
    if (own === undefined) throw new Error(`there is no organization ${number}`)
    return { ...own, name: `grown-${from + number}` }
  }
  await insertMany(database, 'users', count, (number) => {
    const { user, name } = of(number)
    const email = `${name}@example.com`
    return {
      id: user,
      username: name,
      username_key: name,
      email,
      email_key: email,
      created_at: OLD.created_at,
    }
  })
  await insertMany(database, 'organizations', count, (number) => {
    const { organization, project, team, name } = of(number)
    const email = `${name}@example.com`
    const places = { default_project_id: project, owners_team_id: team }
    return { ...OLD, ...places, id: organization, name, email, teams_count: 1, settings: '{}' }
  })
  await insertMany(database, 'projects', count, (number) => {
    const { organization, project } = of(number)
    return { ...OLD, id: project, organization_id: organization, name: 'Default Project', settings: '{}' }
  })
  await insertMany(database, 'teams', count, (number) => ({
    ...OLD,
    id: of(number).team,
    organization_id: of(number).organization,
    name: OWNERS_TEAM,
    visibility: 'secret' as const,
    organization_access: allFlags,
    allow_member_token_management: 1 as const,
    is_owners: 1 as const,
    users_count: 1,
  }))
  const status = { status: 'active' as const, created_at: OLD.created_at }
  await insertMany(database, 'memberships', count, (number) => {
    const { organization, user, membership } = of(number)
    return { id: membership, organization_id: organization, user_id: user, ...status }
  })
  await insertMany(database, 'team_members', count, (number) => {
    const { organization, team, user, membership } = of(number)
    return {
      team_id: team,
      membership_id: membership,
      user_id: user,
      organization_id: organization,
      is_active: 1 as const,
    }
  })
}
