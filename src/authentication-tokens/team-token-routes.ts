import { noContent, created, ok, type Answer } from '../http/call.ts'
import { notFound } from '../core/errors.ts'
import { readRoute, writeRoute, type Acting, type Permitted, type Route } from '../http/route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { loadOrganization, organizationOfPath } from '../organizations/organization-of-path.ts'
import { bumpVersion } from '../organizations/organization-store.ts'
import { ensureServiceAccount } from '../teams/service-accounts.ts'
import { loadTeam, teamOfPath } from '../teams/team-of-path.ts'
import { findTeam, type TeamRow } from '../teams/team-store.ts'
import { listManageableTeamTokens } from './team-token-store.ts'
import { deleteTeamToken } from './token-deletion.ts'
import { tokenFragment, type TokenViewer } from './token-document.ts'
import { countTokens, deleteToken, findSingleToken, listTokens, type TokenOwner } from './token-store.ts'
import {
  checkTokenLimit,
  createToken,
  creatorOf,
  parseTokenRequest,
  tokenBody,
  type TokenRequest,
} from './tokens.ts'

type LoadedTeam = NonNullable<Awaited<ReturnType<typeof loadTeam>>>
type Creating = Acting<unknown, LoadedTeam, TokenRequest>

const ownerOf = (team: TeamRow): TokenOwner => ({ kind: 'team', teamId: team.id })

async function viewerOf<R extends { organization: LoadedTeam['organization'] }>({
  tx,
  actor,
  standing,
  resource,
}: Permitted<unknown, R>): Promise<TokenViewer> {
  const { organization } = resource
  return { actor, standing, organization, ownersTeam: await findTeam(tx, organization.owners_team_id) }
}

async function create(context: Creating, isSingle: boolean): Promise<Answer> {
  const { tx, deps, actor, resource, body, audit } = context
  const { team, organization } = resource
  const replaced = isSingle ? await findSingleToken(tx, ownerOf(team)) : undefined
  if (replaced === undefined) await checkTokenLimit(tx, ownerOf(team), deps)
  else await deleteToken(tx, replaced.id)
  const userId = await ensureServiceAccount(tx, deps, team)
  const { token, text } = await createToken(
    tx,
    deps,
    {
      owner: ownerOf(team),
      userId,
      organizationId: organization.id,
      isSingle,
      createdById: creatorOf(actor),
    },
    body,
  )
  await bumpVersion(tx, organization.id)
  audit({
    action: 'team-token.create',
    organizationId: organization.id,
    resourceType: 'authentication-tokens',
    resourceId: token.id,
    details: {
      team: team.name,
      description: body.description,
      'expired-at': body.expiresAt,
      replaced: replaced?.id,
    },
  })
  return created(document(tokenFragment(token, await viewerOf(context), text)))
}

const createSingle = writeRoute({
  method: 'POST',
  path: '/teams/:team_id/authentication-token',
  permission: 'team:tokens',
  summary: "Create a team's single token, in place of the one before",
  answers: 'authentication-tokens',
  status: 201,
  accepts: tokenBody,
  address: teamOfPath,
  load: ({ tx, address }) => loadTeam(tx, address.teamId),
  body: (bytes, _, deps) => parseTokenRequest(bytes, deps),
  act: (context) => create(context, true),
})

const createDescribed = writeRoute({
  method: 'POST',
  path: '/teams/:team_id/authentication-tokens',
  permission: 'team:tokens',
  summary: 'Create a team token beside others',
  answers: 'authentication-tokens',
  status: 201,
  accepts: tokenBody,
  address: teamOfPath,
  load: ({ tx, address }) => loadTeam(tx, address.teamId),
  body: (bytes, _, deps) => parseTokenRequest(bytes, deps),
  act: (context) => create(context, false),
})

const showSingle = readRoute({
  path: '/teams/:team_id/authentication-token',
  permission: 'team:tokens',
  summary: "Show a team's single token",
  answers: 'authentication-tokens',
  address: teamOfPath,
  load: ({ tx, address }) => loadTeam(tx, address.teamId),
  document: async (context) => {
    const token = await findSingleToken(context.tx, ownerOf(context.resource.team))
    if (token === undefined) throw notFound()
    return ok(document(tokenFragment(token, await viewerOf(context))))
  },
})

const removeSingle = writeRoute({
  method: 'DELETE',
  path: '/teams/:team_id/authentication-token',
  permission: 'team:tokens',
  summary: "Delete a team's single token",
  status: 204,
  address: teamOfPath,
  load: ({ tx, address }) => loadTeam(tx, address.teamId),
  act: async ({ tx, resource, audit }) => {
    const { team, organization } = resource
    const token = await findSingleToken(tx, ownerOf(team))
    if (token === undefined) throw notFound()
    audit(await deleteTeamToken(tx, token, team, organization))
    return noContent
  },
})

const listOfTeam = readRoute({
  path: '/teams/:team_id/authentication-tokens',
  permission: 'team:tokens',
  summary: "List a team's tokens",
  answers: 'authentication-tokens',
  isList: true,
  address: (call) => {
    const page = call.query.page()
    const address = teamOfPath(call)
    return address === undefined ? undefined : { ...address, page }
  },
  load: ({ tx, address }) => loadTeam(tx, address.teamId),
  document: async (context) => {
    const { tx, resource, address, call } = context
    const { page } = address
    const owner = ownerOf(resource.team)
    const viewer = await viewerOf(context)
    const fragments = (await listTokens(tx, owner, page)).map((token) => tokenFragment(token, viewer))
    return ok(listDocument(fragments, pagingOf(call.path, [], page, await countTokens(tx, owner))))
  },
})

const listOfOrganization = readRoute({
  path: '/organizations/:organization_name/team-tokens',
  permission: 'organization:read',
  summary: "List the tokens of the teams whose tokens are the caller's to manage",
  answers: 'authentication-tokens',
  isList: true,
  address: (call) => {
    const page = call.query.page()
    const name = organizationOfPath(call)
    return name === undefined ? undefined : { name, page }
  },
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  document: async (context) => {
    const { tx, actor, standing, resource, address, call } = context
    const { page } = address
    const { tokens, total } = await listManageableTeamTokens(
      tx,
      resource.organization.id,
      { actor, standing },
      page,
    )
    const viewer = await viewerOf(context)
    const fragments = tokens.map((token) => tokenFragment(token, viewer))
    return ok(listDocument(fragments, pagingOf(call.path, [], page, total)))
  },
})

export const teamTokenRoutes: readonly Route[] = [
  createSingle,
  showSingle,
  removeSingle,
  createDescribed,
  listOfTeam,
  listOfOrganization,
]
