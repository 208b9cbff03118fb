import { isPermitted } from '../access/decide.ts'
import { AppError, type Problem } from '../core/errors.ts'
import { noContent, ok } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { parseIdentifiers, refuse } from '../jsonapi/body.ts'
import { listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import type { Query } from '../jsonapi/query.ts'
import { loadOrganization, organizationOfPath } from '../organizations/organization-of-path.ts'
import { findTeams, teamFacts } from '../teams/team-store.ts'
import {
  findManageableTeamTokens,
  listManageableTeamTokens,
  teamTokenSorts,
  type TeamTokenFilter,
  type TeamTokenSort,
} from './team-token-store.ts'
import { deleteTeamToken } from './token-deletion.ts'
import { tokenFragment, viewerOf } from './token-document.ts'
import { choice } from '../jsonapi/parameters.ts'

const PATH = '/organizations/:organization_name/team-tokens'
const MAX_AT_ONCE = 500
const filters = ['q', 'filter[expiry_status]', 'sort'] as const
const expiries = ['active', 'expired'] as const

/** Throws 400 for an unknown filter value or sort order. */
function askedOf(query: Query): { filter: TeamTokenFilter; sort: TeamTokenSort } {
  const problems: Problem[] = []
  const oneOf = <V extends string>(parameter: string, value: string | undefined, known: readonly V[]) => {
    const found = known.find((one) => one === value)
    if (value !== undefined && found === undefined) {
      problems.push({ detail: `${parameter} must be ${known.join(' or ')}`, parameter })
    }
    return found
  }
  const expiry = oneOf('filter[expiry_status]', query.text('filter[expiry_status]'), expiries)
  const given = query.text('sort')
  const isDescending = given?.startsWith('-') === true
  const by = oneOf('sort', isDescending ? given?.slice(1) : given, teamTokenSorts) ?? 'created-at'
  if (problems.length > 0) throw new AppError('invalid-query', problems)
  return {
    filter: { q: query.text('q'), expiry },
    sort: { by, direction: isDescending ? 'desc' : 'asc' },
  }
}

const list = readRoute({
  path: PATH,
  permission: 'organization:read',
  summary: "List the tokens of the teams whose tokens are the caller's to manage",
  query: {
    q: "Part of the team's name, without case",
    'filter[expiry_status]': choice('Tokens that are in force, or that have expired', 'active', 'expired'),
    sort: choice(
      'The order of the list; by created-at if it is not given',
      ...teamTokenSorts,
      ...teamTokenSorts.map((by) => `-${by}`),
    ),
  },
  answers: 'authentication-tokens',
  isList: true,
  address: (call) => {
    const page = call.query.page()
    const asked = askedOf(call.query)
    const name = organizationOfPath(call)
    return name === undefined ? undefined : { name, page, ...asked, links: call.query.withoutPage(filters) }
  },
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  document: async (context) => {
    const { tx, deps, actor, standing, resource, address, call } = context
    const { page, filter, sort, links } = address
    const viewer = await viewerOf(context)
    const seesOwners =
      viewer.ownersTeam !== undefined &&
      isPermitted('team:read', actor, standing, { team: teamFacts(viewer.ownersTeam) })
    const { tokens, total } = await listManageableTeamTokens(
      tx,
      resource.organization,
      { actor, standing, seesOwners },
      { filter, sort, page, now: deps.clock.now() },
    )
    const fragments = tokens.map((token) => tokenFragment(token, viewer))
    return ok(listDocument(fragments, pagingOf(call.path, links, page, total)))
  },
})

const removeMany = writeRoute({
  method: 'DELETE',
  path: PATH,
  permission: 'organization:read',
  summary: "Delete tokens of teams whose tokens are the caller's to manage: all that are named, or none",
  status: 204,
  accepts: { identifiers: 'authentication-tokens' },
  address: (call) => {
    const name = organizationOfPath(call)
    return name === undefined ? undefined : { name }
  },
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  body: (bytes) => parseIdentifiers(bytes, 'authentication-tokens', MAX_AT_ONCE),
  act: async ({ tx, actor, standing, resource, body, audit, unchanged }) => {
    const { organization } = resource
    const tokens = await findManageableTeamTokens(tx, organization, { actor, standing }, [
      ...new Set(body.filter((id) => !id.includes('\0'))),
    ])
    const known = new Set(tokens.map(({ id }) => id))
    refuse(
      body.flatMap((id, place) =>
        known.has(id)
          ? []
          : [{ detail: 'id is not that of a team token to delete here', pointer: `/data/${place}/id` }],
      ),
    )
    if (tokens.length === 0) unchanged()
    const teams = new Map(
      (
        await findTeams(tx, organization.id, [...new Set(tokens.map((token) => token.team_id as string))])
      ).map((team) => [team.id, team]),
    )
    for (const token of tokens) {
      const team = teams.get(token.team_id as string)
      if (team !== undefined) audit(await deleteTeamToken(tx, token, team, organization))
    }
    return noContent
  },
})

export const organizationTeamTokenRoutes: readonly Route[] = [list, removeMany]
