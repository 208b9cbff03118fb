import { noContent, created, ok, type Answer } from '../http/call.ts'
import { AppError, notFound } from '../core/errors.ts'
import { readRoute, writeRoute, type Acting, type Route } from '../http/route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { bumpVersion } from '../organizations/organization-store.ts'
import { ensureServiceAccount } from '../teams/service-accounts.ts'
import { loadTeam, teamOfPath } from '../teams/team-of-path.ts'
import type { TeamRow } from '../teams/team-store.ts'
import { deleteTeamToken } from './token-deletion.ts'
import { tokenFragment, viewerOf } from './token-document.ts'
import {
  countTokens,
  deleteToken,
  findSingleToken,
  isDescriptionTaken,
  listTokens,
  type TokenOwner,
} from './token-store.ts'
import { checkTokenLimit, createToken, parseTokenRequest, tokenBody, type TokenRequest } from './tokens.ts'

type LoadedTeam = NonNullable<Awaited<ReturnType<typeof loadTeam>>>
type Creating = Acting<unknown, LoadedTeam, TokenRequest>

const ownerOf = (team: TeamRow): TokenOwner => ({ kind: 'team', teamId: team.id })

/** go-tfe compares title and detail with these texts. */
function descriptionIsTaken(): AppError {
  return new AppError('invalid', [
    {
      title: 'invalid attributes',
      detail: 'Validation failed: Description has already been taken',
      pointer: '/data/attributes/description',
    },
  ])
}

async function create(context: Creating, isSingle: boolean): Promise<Answer> {
  const { tx, deps, actor, resource, body, audit } = context
  const { team, organization } = resource
  const replaced = isSingle ? await findSingleToken(tx, ownerOf(team)) : undefined
  if (replaced === undefined) await checkTokenLimit(tx, ownerOf(team), deps)
  else await deleteToken(tx, replaced.id)
  const { description } = body
  if (description && (await isDescriptionTaken(tx, ownerOf(team), description))) throw descriptionIsTaken()
  const userId = await ensureServiceAccount(tx, deps, team)
  const { token, text } = await createToken(
    tx,
    deps,
    {
      owner: ownerOf(team),
      userId,
      organization,
      isSingle,
      maker: actor,
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
      description,
      'expired-at': token.expires_at,
      replaced: replaced?.id,
    },
  })
  return created(document(tokenFragment(token, await viewerOf(context), text)))
}

/** POST for the single token of `…/authentication-token`, or for one of the team's further tokens. */
function creatingRoute(path: string, isSingle: boolean, summary: string): Route {
  return writeRoute({
    method: 'POST',
    path: `/teams/:team_id/${path}`,
    permission: 'team:tokens',
    summary,
    answers: 'authentication-tokens',
    status: 201,
    accepts: tokenBody,
    address: teamOfPath,
    load: ({ tx, address }) => loadTeam(tx, address.teamId),
    body: (bytes, _, deps) => parseTokenRequest(bytes, deps),
    act: (context) => create(context, isSingle),
  })
}

const createSingle = creatingRoute(
  'authentication-token',
  true,
  "Create a team's single token, in place of the one before",
)
const createDescribed = creatingRoute('authentication-tokens', false, 'Create a team token beside others')

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

export const teamTokenRoutes: readonly Route[] = [
  createSingle,
  showSingle,
  removeSingle,
  createDescribed,
  listOfTeam,
]
