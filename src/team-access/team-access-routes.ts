import { type Target, canSeeTeam, isPermitted } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import { invalid } from '../core/errors.ts'
import { existing } from '../core/existing.ts'
import { NO_ID, idInPath, parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { dryRunOfAccess } from '../effective-access/access-dry-run.ts'
import type { NamedPlace } from '../effective-access/places.ts'
import { cachedPage } from '../http/cached-page.ts'
import { done } from '../http/outcome.ts'
import { list, read } from '../http/read-route.ts'
import type { Loaded, Loading, Place, Route, Viewer } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { parseResource, readResource, toOne } from '../jsonapi/body.ts'
import type { Shape, ValuesOf } from '../jsonapi/body-values.ts'
import { document, listDocument, type Fragment } from '../jsonapi/document.ts'
import type { Page } from '../jsonapi/paging.ts'
import { idOf, requiredText } from '../jsonapi/parameters.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { findTeam, teamFacts, type TeamRow } from '../teams/team-store.ts'
import { shownTeams } from './shown-teams-store.ts'
import type { GrantFilter } from './team-access-store.ts'

type Context = Omit<Loading<unknown>, 'address'>

/** A workspace or project, and the facts that rules need. */
type LoadedPlace = Loaded & { organization: OrganizationRow; target: Target }

/** The differences between team access to workspaces and team access to projects. */
type AccessKind<
  Row extends { id: string; team_id: string },
  Grant,
  Asked,
  P extends LoadedPlace,
  S extends Shape,
> = {
  thing: 'workspace' | 'project'
  idKind: 'teamWorkspace' | 'teamProject'
  permissions: { place: Permission; read: Permission; manage: Permission }
  /** Other names of the resource type, which some clients send. */
  otherTypes?: readonly string[]
  attributes: S
  askedOf: (attributes: Partial<ValuesOf<S>>) => Asked
  loadPlace: (context: Context, id: string) => Promise<P | undefined>
  placeOf: (loaded: P) => NamedPlace
  placeIdOf: (row: Row) => string
  find: (tx: Transaction, id: string) => Promise<Row | undefined>
  list: (tx: Transaction, filter: GrantFilter, page: Page) => Promise<{ rows: Row[]; total: number }>
  /** Returns undefined if the team already has a grant there. */
  insert: (
    tx: Transaction,
    keys: { id: string; organization_id: string; team_id: string; created_at: string },
    placeId: string,
    grant: Grant,
  ) => Promise<Row | undefined>
  update: (tx: Transaction, id: string, grant: Grant) => Promise<Row>
  remove: (tx: Transaction, id: string) => Promise<void>
  grantOf: (row: Row) => Grant
  /** Applies a change to a grant. Throws 422 for values that contradict each other. */
  change: (before: Grant | undefined, asked: Asked) => Grant
  fragment: (row: Row) => Fragment
}

/** The five routes of one kind. */
export function teamAccessRoutes<
  Row extends { id: string; team_id: string; access: string },
  Grant extends object,
  Asked,
  P extends LoadedPlace,
  S extends Shape,
>(kind: AccessKind<Row, Grant, Asked, P, S>): readonly Route[] {
  const { thing, permissions, otherTypes, attributes } = kind
  const type = `team-${thing}s`
  const placeFilter = `filter[${thing}][id]`
  const idName = `team_${thing}_id`
  const singular = `team-${thing}`
  const relationships = { team: toOne('teams'), [thing]: toOne(`${thing}s`) }
  const changedBody = { type, otherTypes, attributes, relationships, ignored: [] }
  const newBody = {
    ...changedBody,
    required: ['access'],
    requiredRelationships: ['team', thing],
  }
  const parseNew = (bytes: Uint8Array) => {
    const { attributes: given, relationships: linked } = parseResource(bytes, newBody)
    return {
      asked: kind.askedOf(given),
      teamId: existing(linked.team).data.id,
      placeId: existing(linked[thing]).data.id,
    }
  }
  /** A change may name the team and the place, which stay. */
  const parseChange = (bytes: Uint8Array, id: string | undefined) => {
    const { attributes: given, relationships: linked, problems } = readResource(bytes, changedBody, id)
    return {
      asked: kind.askedOf(given),
      teamId: linked.team?.data.id,
      placeId: linked[thing]?.data.id,
      problems,
    }
  }

  /** The id under the name used here, and under the name by which refusals are recorded. */
  const named = (id: string | undefined) => {
    const placeId = parseId(thing, id ?? '')
    return placeId === undefined ? undefined : { placeId, [`${thing}Id`]: placeId }
  }

  /** The workspace or project that the query or the body names. */
  const placeOfGrants: Place<{ readonly placeId: string }, P> = {
    path: `/${type}`,
    type,
    address: ({ query }) => named(query.text(placeFilter)),
    load: (context) => kind.loadPlace(context, context.address.placeId),
  }

  /** A grant with its place and its team, as rules need them. */
  const grantPlace = {
    path: `/${type}/:${idName}`,
    type,
    address: idInPath(kind.idKind, idName),
    load: async (context: Loading<{ readonly id: string }>) => {
      const row = await kind.find(context.tx, context.address.id)
      const loaded = await kind.loadPlace(context, row === undefined ? NO_ID : kind.placeIdOf(row))
      const team = await findTeam(context.tx, row?.team_id ?? NO_ID)
      if (row === undefined || loaded === undefined || team === undefined) return undefined
      const target = { ...loaded.target, team: teamFacts(team) }
      return { ...loaded, place: kind.placeOf(loaded), row, team, target }
    },
  }

  return [
    list(placeOfGrants, '', {
      permission: permissions.place,
      summary: `List the access of teams to a ${thing}`,
      answers: type,
      query: {
        [placeFilter]: requiredText(`Id of the ${thing}`),
        'filter[team][id]': idOf('team', 'The access of this team alone'),
      },
      document: async (context) => {
        const { tx, actor, standing, resource, address, query, page, paging } = context
        const { placeId } = address
        const { grants = 0 } = resource.target
        const teamId = query['filter[team][id]']
        const name = teamId === undefined ? `${type} ${placeId}` : undefined
        return cachedPage(context, resource.organization, name, page, async () => {
          await context.willLookAt(() => resource.organization.teams_count)
          const shown = shownTeams(permissions.read, { actor, standing, grants })
          const { rows, total } = await kind.list(tx, { placeId, teamId, shown }, page)
          return listDocument(rows.map(kind.fragment), paging(total))
        })
      },
    }),

    write(placeOfGrants, '', {
      method: 'POST',
      status: 201,
      permission: permissions.manage,
      summary: `Give a team access to a ${thing}`,
      answers: type,
      accepts: newBody,
      body: parseNew,
      addressInBody: (body) => named(body.placeId),
      dryRun: async (context) => {
        const { resource, body } = context
        const team = await teamToGrant(context, permissions.manage, resource, body.teamId)
        const place = kind.placeOf(resource)
        return dryRunOfAccess(context, { organization: resource.organization, team, place })
      },
      act: async (context) => {
        const { tx, deps, resource, body, now } = context
        const team = await teamToGrant(context, permissions.manage, resource, body.teamId)
        const grant = kind.change(undefined, body.asked)
        const place = kind.placeOf(resource)
        const keys = {
          id: deps.newId(kind.idKind),
          organization_id: resource.organization.id,
          team_id: team.id,
          created_at: now,
        }
        const row = await kind.insert(tx, keys, place.id, grant)
        if (row === undefined) {
          throw invalid(`team has access to the ${thing} already`, '/data/relationships/team')
        }
        const details = { team: team.id, [thing]: place.id, ...grant }
        return done(row, { action: `${singular}.create`, details })
      },
      document: ({ result }) => document(kind.fragment(result)),
    }),

    read(grantPlace, '', {
      permission: permissions.read,
      summary: `Show a team's access to a ${thing}`,
      answers: type,
      document: ({ resource }) => document(kind.fragment(resource.row)),
    }),

    write(grantPlace, '', {
      method: 'PATCH',
      status: 200,
      permission: permissions.manage,
      summary: `Change a team's access to a ${thing}`,
      answers: type,
      accepts: changedBody,
      body: (bytes, { address }) => parseChange(bytes, address?.id),
      problems: ({ resource: { row }, body, problems }) => {
        for (const [name, asked, own] of [
          ['team', body.teamId, row.team_id],
          [thing, body.placeId, kind.placeIdOf(row)],
        ] as const) {
          if (asked === undefined || asked === own) continue
          const detail = `the ${name} of an access cannot be changed; give access anew, and take this one away`
          problems.push({ detail, pointer: `/data/relationships/${name}` })
        }
      },
      dryRun: (context) => dryRunOfAccess(context, context.resource),
      act: async ({ tx, resource, body }) => {
        const { place, team, row } = resource
        const before = kind.grantOf(row)
        const after = kind.change(before, body.asked)
        const updated = await kind.update(tx, row.id, after)
        const details = { team: team.id, [thing]: place.id, before, after }
        return done(updated, { action: `${singular}.update`, details })
      },
      document: ({ result }) => document(kind.fragment(result)),
    }),

    write(grantPlace, '', {
      method: 'DELETE',
      status: 204,
      permission: permissions.manage,
      summary: `Take a team's access to a ${thing} away`,
      dryRun: (context) => dryRunOfAccess(context, context.resource),
      act: async ({ tx, resource: { place, team, row } }) => {
        await kind.remove(tx, row.id)
        const details = { team: team.id, [thing]: place.id, access: row.access }
        return done(row, { action: `${singular}.delete`, details })
      },
    }),
  ]
}

/** The team that a body gives access to. A team that the caller cannot see or give access to counts as missing. */
async function teamToGrant(
  { tx, actor, standing }: Viewer,
  permission: Permission,
  place: { organization: { id: string }; target: Target },
  teamId: string,
): Promise<TeamRow> {
  const id = parseId('team', teamId)
  const team = await findTeam(tx, id ?? NO_ID)
  if (team !== undefined && team.organization_id === place.organization.id) {
    const facts = teamFacts(team)
    const target = { team: facts, grants: place.target.grants ?? 0 }
    if (canSeeTeam(standing, facts) && isPermitted(permission, actor, standing, target)) return team
  }
  throw invalid(
    'team must be one of the organization that you can give access to',
    '/data/relationships/team',
  )
}
