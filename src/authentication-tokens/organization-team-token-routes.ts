import { isPermitted } from '../access/decide.ts'
import { invalidQuery } from '../core/errors.ts'
import { doneAll, unchanged } from '../http/outcome.ts'
import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { addUnknown, readIdentifiers } from '../jsonapi/body.ts'
import { listDocument } from '../jsonapi/document.ts'
import { choice, text, type QueryParameter } from '../jsonapi/parameters.ts'
import { organizationPlace } from '../organizations/organization-place.ts'
import { findTeams, teamFacts } from '../teams/team-store.ts'
import {
  findManageableTeamTokens,
  listManageableTeamTokens,
  teamTokenSorts,
  type TeamTokenSort,
} from './team-token-store.ts'
import { deleteTeamToken } from './token-deletion.ts'
import { tokenFragment, viewerOf } from './token-document.ts'

const MAX_AT_ONCE = 500

const sortParameter: QueryParameter<TeamTokenSort> = {
  ...choice(
    'The order of the list; by created-at if it is not given',
    ...teamTokenSorts,
    ...teamTokenSorts.map((by) => `-${by}`),
  ),
  read: (query, name) => {
    const given = query.text(name) ?? 'created-at'
    const isDescending = given.startsWith('-')
    const by = teamTokenSorts.find((one) => one === (isDescending ? given.slice(1) : given))
    if (by !== undefined) return { by, direction: isDescending ? 'desc' : 'asc' }
    const detail = `${name} must be ${teamTokenSorts.join(' or ')}`
    throw invalidQuery(detail, name)
  },
}

export const organizationTeamTokenRoutes: readonly Route[] = [
  list(organizationPlace, '/team-tokens', {
    permission: 'organization:read',
    summary: "List the tokens of the teams whose tokens are the caller's to manage",
    query: {
      q: text("Part of the team's name, ignoring case"),
      'filter[expiry_status]': choice('Only valid tokens, or only expired ones', 'active', 'expired'),
      sort: sortParameter,
    },
    answers: 'authentication-tokens',
    document: async (context) => {
      const { tx, deps, actor, standing, resource, query, page, paging } = context
      await context.willLookAt(() => resource.organization.teams_count)
      const viewer = await viewerOf(context)
      const seesOwners =
        viewer.ownersTeam !== undefined &&
        isPermitted('team:read', actor, standing, { team: teamFacts(viewer.ownersTeam) })
      const { rows, total } = await listManageableTeamTokens(
        tx,
        resource.organization,
        { actor, standing, seesOwners },
        {
          filter: { q: query.q, expiry: query['filter[expiry_status]'] },
          sort: query.sort,
          page,
          now: deps.clock.now(),
        },
      )
      const fragments = rows.map((token) => tokenFragment(token, viewer))
      return listDocument(fragments, paging(total))
    },
  }),

  write(organizationPlace, '/team-tokens', {
    method: 'DELETE',
    status: 204,
    permission: 'organization:read',
    summary: "Delete tokens of teams whose tokens are the caller's to manage: all that are named, or none",
    accepts: { identifiers: 'authentication-tokens' },
    body: (bytes) => readIdentifiers(bytes, 'authentication-tokens', MAX_AT_ONCE),
    problems: async ({ tx, actor, standing, resource: { organization }, body, problems }) => {
      const ids = new Set(body.ids.filter((id) => !id.includes('\0')))
      const tokens = await findManageableTeamTokens(tx, organization, { actor, standing }, [...ids])
      const known = new Set(tokens.map(({ id }) => id))
      const detail = 'id does not name a team token that the caller may delete here'
      addUnknown(problems, body.ids, (id) => known.has(id), detail)
      return tokens
    },
    act: async ({ tx, resource: { organization }, checked: tokens }) => {
      const teamIds = new Set(tokens.flatMap(({ team_id: id }) => (id === null ? [] : [id])))
      const teams = new Map(
        (await findTeams(tx, organization.id, [...teamIds])).map((team) => [team.id, team]),
      )
      const events = []
      for (const token of tokens) {
        const team = teams.get(token.team_id ?? '')
        if (team !== undefined) events.push(await deleteTeamToken(tx, token, team, organization))
      }
      const [first, ...others] = events
      return first === undefined ? unchanged(undefined) : doneAll(undefined, [first, ...others])
    },
  }),
]
