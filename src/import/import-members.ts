import { existing } from '../core/existing.ts'
import { auditOperator } from '../operation/command-database.ts'
import { bumpVersion, lockOrganization } from '../organizations/organization-store.ts'
import { activateMembership, findMembership } from '../organization-memberships/membership-store.ts'
import { activateTeamMembers } from '../teams/team-member-store.ts'
import { findUserByEmail, findUserByUsername } from '../users/user-store.ts'
import { keyOf } from '../users/users.ts'
import { forEach, orReport, type Context } from './context.ts'
import { pathOf } from './import-things.ts'
import type { MemberRecord, TeamRecord } from './records.ts'
import { relatedIds } from './source-lists.ts'

const MEMBERS_A_REQUEST = 500

type Membership = { id: string; isActive: boolean; teamIds: ReadonlySet<string> }

/** Creates users and memberships, and adds members to their teams. */
export async function importMembers(
  context: Context,
  members: readonly MemberRecord[],
  teams: readonly TeamRecord[],
): Promise<void> {
  const here = await membershipsHere(context)
  /** Membership ids by the team's id on the source. */
  const joining = new Map<string, string[]>()
  await forEach(context, 'memberships', members, async (member) => {
    const membership = await importMember(context, member, here)
    if (membership === undefined) return
    for (const teamId of member.teamIds) {
      const team = context.teams.get(teamId)
      if (team === undefined || membership.teamIds.has(team.id)) continue
      const ids = joining.get(teamId) ?? []
      ids.push(membership.id)
      joining.set(teamId, ids)
    }
  })
  const joined = teams.filter(({ id }) => joining.has(id))
  await forEach(context, 'team members', joined, ({ id, name }) =>
    joinTeam(context, name, existing(context.teams.get(id)).id, existing(joining.get(id))),
  )
}

async function membershipsHere(context: Context): Promise<Map<string, Membership>> {
  if (context.isMadeLater) return new Map()
  const { data } = await context.target.list(pathOf(context, 'organization-memberships'))
  return new Map(
    data.map((resource) => [
      keyOf(String(resource.attributes.email)),
      {
        id: resource.id,
        isActive: resource.attributes.status === 'active',
        teamIds: new Set(relatedIds(resource, 'teams')),
      },
    ]),
  )
}

async function importMember(
  context: Context,
  { id, email, username, status }: MemberRecord,
  here: Map<string, Membership>,
): Promise<Membership | undefined> {
  const { target, report, isDryRun } = context
  const kind = 'memberships'
  if (email === null) {
    report.missing(
      kind,
      username ?? id,
      'the email is hidden from this token, and people are matched by email',
    )
    return undefined
  }
  const canAccept = status === 'active' && (await importUser(context, email, username))
  const there = here.get(keyOf(email))
  if (there !== undefined) {
    report.there(kind)
    if (canAccept && !there.isActive && !isDryRun) await accept(context, there.id)
    return there
  }
  const made = await orReport(context, kind, email, () =>
    target.send('POST', pathOf(context, 'organization-memberships'), {
      type: 'organization-memberships',
      attributes: { email },
    }),
  )
  if (made === undefined) return undefined
  report.copied(kind)
  if (canAccept && !isDryRun) await accept(context, made.id)
  return { id: made.id, isActive: canAccept, teamIds: new Set() }
}

/**
 * Finds the user with this email, or creates one without password and token. False if neither is possible; an
 * invitation is sent then. Never matches by user name, because on this server it may be another person's.
 */
async function importUser(context: Context, email: string, username: string | null): Promise<boolean> {
  const { target, report } = context
  const kind = 'users'
  const { found, taken } = await target.database.read(async (tx) => ({
    found: await findUserByEmail(tx, keyOf(email)),
    taken: username === null ? undefined : await findUserByUsername(tx, keyOf(username)),
  }))
  if (found !== undefined && found.username !== null) {
    report.there(kind)
    return true
  }
  const name = username ?? email
  if (username === null || taken !== undefined) {
    const reason = username === null ? 'the user name is not known' : 'somebody else has this user name here'
    report.missing(kind, name, `${reason}; ${email} is invited`)
    return false
  }
  const made = await orReport(context, kind, name, () =>
    target.send('POST', '/admin/users', { type: 'users', attributes: { username, email } }),
  )
  if (made === undefined) return false
  report.copied(kind)
  return true
}

/** Accepts for a member who has already accepted on the source. The audit trail names the operator as the actor. */
async function accept({ target, source }: Context, membershipId: string): Promise<void> {
  await target.database.write(async (tx) => {
    const before = await findMembership(tx, membershipId)
    if (before !== undefined) await lockOrganization(tx, before.organization_id)
    const membership = await findMembership(tx, membershipId)
    if (membership === undefined || membership.status === 'active') return
    const organizationId = membership.organization_id
    await activateMembership(tx, membershipId)
    await activateTeamMembers(tx, membershipId)
    await bumpVersion(tx, organizationId)
    await auditOperator(tx, target.config, {
      action: 'membership.accept',
      organizationId,
      resourceType: 'organization-memberships',
      resourceId: membershipId,
      details: { 'imported-from': source.name },
    })
  })
}

async function joinTeam(context: Context, name: string, teamId: string, ids: readonly string[]) {
  const { target, report } = context
  const kind = 'team members'
  const size = Math.min(MEMBERS_A_REQUEST, target.config.maxTeamMembers)
  for (let start = 0; start < ids.length; start += size) {
    const slice = ids.slice(start, start + size)
    const data = slice.map((id) => ({ type: 'organization-memberships', id }))
    await orReport(context, kind, name, async () => {
      await target.act(`/teams/${teamId}/relationships/organization-memberships`, { data })
      report.copied(kind, slice.length)
    })
  }
}
