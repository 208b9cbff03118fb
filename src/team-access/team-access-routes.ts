import type { Actor } from '../access/actor.ts'
import type { Target } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, invalid } from '../core/errors.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { watchAccess } from '../effective-access/access-trial.ts'
import type { NamedPlace } from '../effective-access/places.ts'
import { created, noContent, ok, type Call } from '../http/call.ts'
import type { Deps } from '../http/deps.ts'
import { keptPage } from '../http/kept-page.ts'
import { readRoute, writeRoute, type Loaded, type Route } from '../http/route.ts'
import type { AcceptedBody } from '../jsonapi/body.ts'
import { document, listDocument, type Fragment } from '../jsonapi/document.ts'
import { pagingOf, type Page } from '../jsonapi/paging.ts'
import { bumpVersion, type OrganizationRow } from '../organizations/organization-store.ts'
import { findTeam, teamFacts } from '../teams/team-store.ts'
import { shownTeams } from './shown-teams-store.ts'
import { teamToGrant } from './team-to-grant.ts'

type Context = { tx: Transaction; actor: Actor; deps: Deps }

/** A workspace or project, and the facts that rules need. */
type LoadedPlace = Loaded & { organization: OrganizationRow; target: Target }

/** The differences between team access to workspaces and team access to projects. */
export type AccessKind<Row extends { id: string; team_id: string }, Grant, Asked, P extends LoadedPlace> = {
  thing: 'workspace' | 'project'
  type: 'team-workspaces' | 'team-projects'
  idKind: 'teamWorkspace' | 'teamProject'
  permissions: { place: Permission; read: Permission; manage: Permission }
  newBody: AcceptedBody
  body: AcceptedBody
  parseNew: (bytes: Uint8Array) => Asked & { teamId: string; placeId: string }
  parse: (bytes: Uint8Array, pathId: string) => Asked
  loadPlace: (context: Context, id: string) => Promise<P | undefined>
  placeOf: (loaded: P) => NamedPlace
  placeIdOf: (row: Row) => string
  find: (tx: Transaction, id: string) => Promise<Row | undefined>
  list: (
    tx: Transaction,
    filter: { placeId: string; teamId: string | undefined; shown: ReturnType<typeof shownTeams> },
    page: Page,
  ) => Promise<{ rows: Row[]; total: number }>
  /** Returns false if the team already has a grant there. */
  insert: (
    tx: Transaction,
    keys: { id: string; organization_id: string; team_id: string; created_at: string },
    placeId: string,
    grant: Grant,
  ) => Promise<boolean>
  update: (tx: Transaction, id: string, grant: Grant) => Promise<void>
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
>(kind: AccessKind<Row, Grant, Asked, P>): readonly Route[] {
  const { thing, type, permissions } = kind
  const path = `/${type}`
  const filters = [`filter[${thing}][id]`, 'filter[team][id]'] as const
  const [placeFilter] = filters
  const idName = `team_${thing}_id`
  const singular = `team-${thing}`

  /** The facts for a refusal: the id under the name used here and the name used by other routes. */
  const named = (placeId: string) => ({ placeId, [`${thing}Id`]: placeId })

  const grantOfPath = ({ params }: Call) => {
    const id = parseId(kind.idKind, params[idName] ?? '')
    return id === undefined ? undefined : { id }
  }

  /** A grant with its place and its team, as rules need them. */
  const loadGrant = async (context: Context, id: string) => {
    const row = await kind.find(context.tx, id)
    const loaded = await kind.loadPlace(context, row === undefined ? NO_ID : kind.placeIdOf(row))
    const team = await findTeam(context.tx, row?.team_id ?? NO_ID)
    if (row === undefined || loaded === undefined || team === undefined) return undefined
    return {
      ...loaded,
      place: kind.placeOf(loaded),
      row,
      team,
      target: { ...loaded.target, team: teamFacts(team) },
    }
  }

  const list = readRoute({
    path,
    permission: permissions.place,
    summary: `List the access of teams to a ${thing}`,
    query: {
      [placeFilter]: { description: `Id of the ${thing}`, isRequired: true },
      'filter[team][id]': 'The access of this team alone',
    },
    answers: type,
    isList: true,
    address: (call) => {
      const page = call.query.page()
      const given = call.query.text(placeFilter)
      if (given === undefined) {
        throw new AppError('invalid-query', [{ detail: `${placeFilter} is missing`, parameter: placeFilter }])
      }
      const placeId = parseId(thing, given)
      const teamId = call.query.id('team', 'filter[team][id]')
      return placeId === undefined
        ? undefined
        : { ...named(placeId), teamId, page, links: call.query.withoutPage(filters) }
    },
    load: (context) => kind.loadPlace(context, context.address.placeId),
    document: async (context) => {
      const { tx, actor, standing, resource, address, call } = context
      const { placeId, teamId, page, links } = address
      const { grants = 0 } = resource.target
      const name = teamId === undefined ? `${type} ${placeId}` : undefined
      return keptPage(context, resource.organization, name, page, async () => {
        const shown = shownTeams(permissions.read, { actor, standing, grants })
        const { rows, total } = await kind.list(tx, { placeId, teamId, shown }, page)
        return listDocument(rows.map(kind.fragment), pagingOf(call.path, links, page, total))
      })
    },
  })

  const add = writeRoute({
    method: 'POST',
    path,
    permission: permissions.manage,
    summary: `Give a team access to a ${thing}`,
    answers: type,
    status: 201,
    accepts: kind.newBody,
    address: () => undefined,
    body: kind.parseNew,
    addressInBody: (body) => {
      const placeId = parseId(thing, body.placeId)
      return placeId === undefined ? undefined : named(placeId)
    },
    load: (context: Context & { address: { placeId: string } }) =>
      kind.loadPlace(context, context.address.placeId),
    dryRun: async (context) => {
      const { resource, body } = context
      const team = await teamToGrant(context, permissions.manage, resource, body.teamId)
      return watchAccess(context, {
        organization: resource.organization,
        team,
        place: kind.placeOf(resource),
      })
    },
    act: async (context) => {
      const { tx, deps, resource, body, audit } = context
      const { organization } = resource
      const team = await teamToGrant(context, permissions.manage, resource, body.teamId)
      const grant = kind.change(undefined, body)
      const id = deps.newId(kind.idKind)
      const place = kind.placeOf(resource)
      const keys = {
        id,
        organization_id: organization.id,
        team_id: team.id,
        created_at: timestamp(deps.clock.now()),
      }
      if (!(await kind.insert(tx, keys, place.id, grant))) {
        throw invalid(`team has access to the ${thing} already`, '/data/relationships/team')
      }
      await bumpVersion(tx, organization.id)
      audit({
        action: `${singular}.create`,
        organizationId: organization.id,
        resourceType: type,
        resourceId: id,
        details: { team: team.id, [thing]: place.id, ...grant },
      })
      return created(document(kind.fragment((await kind.find(tx, id)) as Row)))
    },
  })

  const ofGrant = {
    path: `${path}/:${idName}`,
    address: grantOfPath,
    load: (context: Context & { address: { id: string } }) => loadGrant(context, context.address.id),
  }

  const show = readRoute({
    ...ofGrant,
    permission: permissions.read,
    summary: `Show a team's access to a ${thing}`,
    answers: type,
    document: ({ resource }) => Promise.resolve(ok(document(kind.fragment(resource.row)))),
  })

  const change = writeRoute({
    ...ofGrant,
    method: 'PATCH',
    permission: permissions.manage,
    summary: `Change a team's access to a ${thing}`,
    answers: type,
    status: 200,
    accepts: kind.body,
    body: (bytes, { id }) => kind.parse(bytes, id),
    dryRun: (context) => watchAccess(context, context.resource),
    act: async ({ tx, resource, body, audit }) => {
      const { organization, place, team, row } = resource
      const before = kind.grantOf(row)
      const after = kind.change(before, body)
      await kind.update(tx, row.id, after)
      await bumpVersion(tx, organization.id)
      audit({
        action: `${singular}.update`,
        organizationId: organization.id,
        resourceType: type,
        resourceId: row.id,
        details: { team: team.id, [thing]: place.id, before, after },
      })
      return ok(document(kind.fragment((await kind.find(tx, row.id)) as Row)))
    },
  })

  const remove = writeRoute({
    ...ofGrant,
    method: 'DELETE',
    permission: permissions.manage,
    summary: `Take a team's access to a ${thing} away`,
    status: 204,
    dryRun: (context) => watchAccess(context, context.resource),
    act: async ({ tx, resource, audit }) => {
      const { organization, place, team, row } = resource
      await kind.remove(tx, row.id)
      await bumpVersion(tx, organization.id)
      audit({
        action: `${singular}.delete`,
        organizationId: organization.id,
        resourceType: type,
        resourceId: row.id,
        details: { team: team.id, [thing]: place.id, access: row.access },
      })
      return noContent
    },
  })

  return [list, add, show, change, remove]
}
