import type { Readable } from 'node:stream'
import { lockChainBeside } from '../audit/audit-store.ts'
import { invalid, invalidBy } from '../core/errors.ts'
import { existing } from '../core/existing.ts'
import { rowsBefore } from '../database/window.ts'
import { dryRunOfAccess } from '../effective-access/access-dry-run.ts'
import { cachedDocument, cachedPage } from '../http/cached-page.ts'
import { done } from '../http/outcome.ts'
import { list, read } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { besideTakenName, tooMany } from '../jsonapi/body.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { commaSeparated, text } from '../jsonapi/parameters.ts'
import { organizationPlace } from '../organizations/organization-place.ts'
import type { IncludingViewer } from '../outputs/included-outputs.ts'
import { flagsLeftOn } from './organization-access.ts'
import { teamFragments } from './team-document.ts'
import { newTeamBody, readNewTeam, readTeam, teamBody, teamColumns, type TeamShape } from './team-fields.ts'
import { includedWithTeams, teamQuery, type TeamQuery } from './team-includes.ts'
import { countOpenTeams, listVisibleTeams } from './team-list-store.ts'
import { teamPlace } from './team-place.ts'
import { deleteTeam, findTeamByName, insertTeam, updateTeam, type TeamRow } from './team-store.ts'
import { grantFlags, NAME_IS_TAKEN, problemsOfName, problemsOfOwners, refuseNameInDryRun } from './teams.ts'

type Context = Omit<IncludingViewer, 'later'> & {
  readonly resource: { readonly organization: { readonly name: string } }
  readonly query: TeamQuery
}

async function teamDocument(
  reader: Context & { readonly result: TeamRow },
  isNew = false,
): Promise<string | Readable> {
  const context = { ...reader, later: new LaterParts() }
  const { resource, query, result: team, later } = context
  const shape = { ...shapeOf('whole', query), isNew }
  const [fragment] = await teamFragments(context, [team], shape, resource.organization)
  const included = await includedWithTeams(context, [team], query.include)
  return later.bodyOf(document(existing(fragment), included))
}

function shapeOf(form: TeamShape['form'], query: TeamQuery): TeamShape {
  const hasMemberships = query.include.has('organization-memberships')
  return { form, hasMemberships, fields: query['fields[teams]'] }
}

function visibleTeams({ visibility }: TeamRow): number {
  return visibility === 'organization' ? 1 : 0
}

export const teamRoutes: readonly Route[] = [
  list(organizationPlace, '/teams', {
    permission: 'organization:read',
    summary: 'List teams',
    answers: 'teams',
    isPolled: true,
    query: {
      q: text('Part of the name, ignoring case'),
      'filter[names]': commaSeparated('Exact names, separated by commas'),
      ...teamQuery,
    },
    document: (reader) => {
      const { tx, deps, resource, standing, query, page, links, paging, mayReadAgain } = reader
      const { organization } = resource
      // Clients request the list without filters most often, so its whole pages are cached.
      return cachedPage(reader, organization, links.length === 0 ? 'teams' : undefined, page, async () => {
        const context = { ...reader, later: new LaterParts() }
        const filter = { q: query.q, names: query['filter[names]'] }
        if (links.length === 0) {
          await context.willLookAt(() => rowsBefore(page, countOpenTeams(organization, standing)))
        }
        const { teamNames } = deps
        const listing = { tx, organization, standing, filter, teamNames, mayReadAgain }
        const { teams, total } = await listVisibleTeams(listing, page)
        const shape = shapeOf('listed', query)
        const fragments = await teamFragments(context, teams, shape, organization)
        const included = await includedWithTeams(context, teams, query.include)
        return context.later.bodyOf(listDocument(fragments, paging(total), included))
      })
    },
  }),

  write(organizationPlace, '/teams', {
    method: 'POST',
    status: 200,
    permission: 'team:manage',
    summary: 'Create a team',
    isOneInsert: () => true,
    answers: 'teams',
    query: teamQuery,
    accepts: newTeamBody,
    body: (bytes, { config }) => readNewTeam(bytes, config),
    problems: async (context) => {
      const { tx, deps, resource, body, problems } = context
      const { organization } = resource
      const { maxTeams } = deps.config
      const granted = grantFlags(context, 0)
      if (organization.teams_count + (tx.beside ?? 0) >= maxTeams) problems.push(tooMany('teams', maxTeams))
      problems.push(...granted.problems, ...problemsOfName(body.changes))
      await besideTakenName(problems, NAME_IS_TAKEN, body.changes.name, (name) =>
        findTeamByName(tx, organization.id, name),
      )
      return granted
    },
    act: async ({ tx, deps, resource, body: { changes }, checked: granted, now }) => {
      lockChainBeside(tx, resource.organization.id)
      const team = await insertTeam(tx, {
        id: deps.newId('team'),
        organization_id: resource.organization.id,
        ...teamColumns(changes),
        name: changes.name,
        organization_access: granted.flags,
        created_at: now,
        updated_at: now,
      })
      if (team === undefined) throw invalidBy(NAME_IS_TAKEN)
      const { name, visibility } = team
      const details = { name, visibility, 'organization-access': changes.flags }
      return {
        ...done(team, { action: 'team.create', details }),
        counts: { teams: 1, visibleTeams: visibleTeams(team) },
      }
    },
    document: (context) => teamDocument(context, true),
  }),

  read(teamPlace, '', {
    permission: 'team:read',
    summary: 'Show a team',
    answers: 'teams',
    isPolled: true,
    query: teamQuery,
    document: (context) => {
      const { team, organization } = context.resource
      const make = () => teamDocument({ ...context, result: team })
      const { query } = context
      return query.include.size === 0 && query['fields[teams]'] === undefined
        ? cachedDocument(context, organization, `team ${team.id}`, make)
        : make()
    },
  }),

  write(teamPlace, '', {
    method: 'PATCH',
    status: 200,
    permission: 'team:manage',
    summary: 'Update a team',
    answers: 'teams',
    query: teamQuery,
    accepts: teamBody,
    body: (bytes, { address, config }) => readTeam(bytes, config, address?.id),
    dryRun: (context) => {
      refuseNameInDryRun(context.standing, context.body.changes)
      return dryRunOfAccess(context, context.resource)
    },
    problems: async (context) => {
      const { tx, resource, body, problems } = context
      const { team, organization } = resource
      const { changes } = body
      const granted = grantFlags(context, team.organization_access)
      if (team.is_owners === 1) problems.push(...problemsOfOwners(changes, team))
      else problems.push(...granted.problems, ...problemsOfName(changes, team.name))
      const name = team.is_owners === 1 ? undefined : changes.name
      const find = (taken: string) => findTeamByName(tx, organization.id, taken)
      await besideTakenName(problems, NAME_IS_TAKEN, name, find, team.id)
      return granted
    },
    act: async ({ tx, resource: { team }, body: { changes }, checked: granted, now }) => {
      const updated = await updateTeam(tx, team.id, {
        ...teamColumns(changes),
        organization_access: granted.flags,
        updated_at: now,
      })
      if (updated === undefined) throw invalidBy(NAME_IS_TAKEN)
      const left = flagsLeftOn(team.organization_access, granted.flags, changes.flags ?? {})
      return {
        ...done(updated, { action: 'team.update', details: { name: updated.name, changes } }),
        warnings: left,
        counts: { teams: 0, visibleTeams: visibleTeams(updated) - visibleTeams(team) },
      }
    },
    document: teamDocument,
  }),

  write(teamPlace, '', {
    method: 'DELETE',
    status: 204,
    permission: 'team:manage',
    summary: 'Delete a team',
    dryRun: (context) => dryRunOfAccess(context, context.resource),
    act: async ({ tx, resource: { team } }) => {
      if (team.is_owners === 1) throw invalid('the team owners cannot be deleted')
      await deleteTeam(tx, team)
      return {
        ...done(team, { action: 'team.delete', details: { name: team.name } }),
        counts: { teams: -1, visibleTeams: -visibleTeams(team) },
      }
    },
  }),
]
