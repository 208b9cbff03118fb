import { existing } from '../core/existing.ts'
import { isPermitted, type Caller, type TeamFacts } from '../access/decide.ts'
import { judgedTeams } from '../access/delegation-store.ts'
import type { Config } from '../config.ts'
import { ownTurn } from '../core/turns.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { withFields } from '../jsonapi/description.ts'
import { fragment, type Fragment, type Identifier } from '../jsonapi/document.ts'
import { LaterParts, type Piece } from '../jsonapi/later-parts.ts'
import type { IncludingViewer } from '../outputs/included-outputs.ts'
import {
  hasMemberTokenManagement,
  hasSsoTeamId,
  teamResource,
  type TeamPermissions,
  type TeamRelations,
  type TeamShape,
  type TeamView,
} from './team-fields.ts'
import { membersInTurns } from './team-members-in-turns.ts'
import {
  findTeam,
  findTeams,
  membersOfTeams,
  someTeamMembers,
  teamFacts,
  type TeamMember,
  type TeamRow,
} from './team-store.ts'

/** The `permissions` of the document for this caller. */
function teamPermissions(team: TeamFacts, { actor, standing }: Caller, config: Config): TeamPermissions {
  const target = { team }
  const { isOwners } = team
  const mayManage = isPermitted('team:manage', actor, standing, target)
  const canManage = !isOwners && mayManage
  const canUpdateToken = isPermitted('team:tokens', actor, standing, target)
  const documented = {
    'can-update-membership': isPermitted('team:update-members', actor, standing, target),
    'can-destroy': canManage,
    'can-update-organization-access': !isOwners && isPermitted('team:grant', actor, standing, target),
    'can-update-api-token': canUpdateToken,
    'can-update-visibility': canManage,
  }
  if (config.dialect === 'documented') return documented
  return {
    ...documented,
    'can-update-name': canManage,
    // These may be changed on the team `owners`, too.
    'can-update-sso-team-id': mayManage && hasSsoTeamId(config),
    'can-update-member-token-management': mayManage && hasMemberTokenManagement(config),
    'can-view-api-token': canUpdateToken,
  }
}

/** Undefined for a document with fewer fields: callers can ask for thousands of sets of fields. */
function cacheKeyOf({ team, permissions, shape, organizationName }: TeamView): string | undefined {
  if (shape.fields !== undefined) return undefined
  const rights = Object.values(permissions).map(Number).join('')
  return `${team.id} ${team.version} ${organizationName} ${rights} ${shape.form} ${Number(shape.hasMemberships)}`
}

/**
 * The documents of teams of one organization for one caller. A team with many members is built `later`. Documents are
 * cached by team, team version, organization name, the caller's permissions and shape, so they never go stale.
 */
export async function teamFragments(
  viewer: IncludingViewer,
  teams: readonly TeamRow[],
  shape: TeamShape,
  organization: { readonly name: string },
): Promise<Fragment[]> {
  const { tx, deps, later } = viewer
  const { config, documents } = deps
  const fragments: Fragment[] = []
  const judged = await judgedTeams(tx, viewer, teams.map(teamFacts))
  const sought = teams.map((team, place) => {
    const permissions = teamPermissions(existing(judged[place]), viewer, config)
    const view = { team, permissions, shape, config, organizationName: organization.name }
    const key = cacheKeyOf(view)
    return { view, key, known: key === undefined ? undefined : documents.get<string>(key) }
  })
  const unknown = sought.filter(({ known }) => known === undefined).map(({ view }) => view.team)
  const together = showsMembers(shape) ? await membersTogether(tx, unknown, later) : noMembers
  for (const { view, key, known } of sought) {
    let text = known !== undefined && later.hasRoomFor(0, known.length) ? known : undefined
    const members = known === undefined ? await membersAtOnce(tx, view.team, later, together) : undefined
    if (members !== undefined) {
      text = fragmentOf({ ...view, ...relationsOf(members, config) })
      // The view of a write is not cached, because the write may still be rolled back.
      if (tx.mode === 'read' && key !== undefined) documents.setWhenWantedAgain(key, text)
    }
    fragments.push(text ?? later.addResources(() => teamInTurns(deps, view, key)))
  }
  return fragments
}

const TEAMS_A_TURN = 50

/** Builds the team resources, some per turn of the event loop. */
export async function* teamsInTurns(
  viewer: Caller & { deps: Deps },
  organization: { readonly id: string; readonly name: string },
  ids: readonly string[],
  shape: TeamShape,
): AsyncGenerator<AsyncIterable<Piece>> {
  for (let from = 0; from < ids.length; from += TEAMS_A_TURN) {
    const later = new LaterParts()
    await ownTurn()
    const fragments = await viewer.deps.database.read(async (tx) => {
      const teams = await findTeams(tx, organization.id, ids.slice(from, from + TEAMS_A_TURN))
      return teamFragments({ ...viewer, tx, later }, teams, shape, organization)
    })
    yield later.piecesOf(fragments.join(','))
  }
}

const noMembers: ReadonlyMap<string, TeamMember[]> = new Map()

function showsMembers({ fields, isNew }: TeamShape): boolean {
  if (isNew === true) return false
  return fields === undefined || fields.has('users') || fields.has('organization-memberships')
}

/** Larger teams are read one by one: reading some of their members in vain would cost too much. */
const MOST_TOGETHER = 500

/** The members of several small teams, in one statement. Undefined if they have too many. */
async function membersTogether(
  tx: Transaction,
  teams: readonly TeamRow[],
  { roomForIdentifiers: room }: LaterParts,
): Promise<ReadonlyMap<string, TeamMember[]> | undefined> {
  const most = Math.min(room, MOST_TOGETHER)
  const count = teams.reduce((sum, team) => sum + team.users_count, 0)
  if (teams.length < 2 || count > most) return undefined
  const ids = teams.map(({ id }) => id)
  return membersOfTeams(tx, ids, most)
}

/** Undefined if the answer has no room for so many. */
async function membersAtOnce(
  tx: Transaction,
  team: TeamRow,
  later: LaterParts,
  together: ReadonlyMap<string, TeamMember[]> | undefined,
): Promise<TeamMember[] | undefined> {
  if (together === noMembers) return []
  const room = later.roomForIdentifiers
  if (team.users_count > room) return undefined
  // users_count does not include invited members.
  const members = together ? (together.get(team.id) ?? []) : await someTeamMembers(tx, team.id, '', room + 1)
  later.tookIdentifiers(members.length)
  return members.length > room ? undefined : members
}

/** The same for a large team. Members are read over several turns, and the number of users is counted from them. */
async function* teamInTurns(deps: Deps, view: TeamView, key: string | undefined): AsyncGenerator<string> {
  await ownTurn()
  const { team } = view
  let text = key === undefined ? undefined : deps.documents.get<string>(key)
  if (text === undefined) {
    const texts = { users: '', memberships: '' }
    let count = 0
    for await (const members of membersInTurns(deps, team.id)) {
      const { users, memberships } = relationsOf(members, deps.config)
      count += users.length
      texts.users = joinedText(texts.users, users)
      texts.memberships = joinedText(texts.memberships, memberships)
    }
    const counted = { ...view, team: { ...team, users_count: count } }
    // No stored text matches: JSON escapes the quotes in it.
    text = fragmentOf({ ...counted, users: [], memberships: [] })
      .replace('"users":{"data":[', (found) => found + texts.users)
      .replace('"organization-memberships":{"data":[', (found) => found + texts.memberships)
    const now = await deps.database.read((tx) => findTeam(tx, team.id))
    if (key !== undefined && now?.version === team.version) deps.documents.setWhenWantedAgain(key, text)
  }
  yield text
}

function joinedText(before: string, identifiers: readonly Identifier[]): string {
  if (identifiers.length === 0) return before
  const text = JSON.stringify(identifiers).slice(1, -1)
  return before === '' ? text : `${before},${text}`
}

/** The documented dialect does not show invited members in team documents, and the relation only if it is included. */
export function shownMembers(members: readonly TeamMember[], { dialect }: Config) {
  const active = members.filter((member) => member.is_active === 1)
  return { active, shown: dialect === 'current' ? members : active }
}

function relationsOf(members: readonly TeamMember[], config: Config): TeamRelations {
  const { active, shown } = shownMembers(members, config)
  return {
    users: active.map((member) => ({ id: member.user_id, type: 'users' })),
    memberships: shown.map((member) => ({ id: member.membership_id, type: 'organization-memberships' })),
  }
}

function fragmentOf(view: TeamView & TeamRelations): Fragment {
  return fragment(withFields(view.shape.fields, teamResource.resource(view)))
}
