import { notFound, type Problem } from '../core/errors.ts'
import { done, doneAll } from '../http/outcome.ts'
import { list, read } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { ensureServiceAccount } from './service-accounts.ts'
import { teamPlace } from '../teams/team-place.ts'
import type { TeamRow } from '../teams/team-store.ts'
import { deleteTeamToken } from './token-deletion.ts'
import { tokenFragment, viewerOf } from './token-document.ts'
import { teamOrItsTokenPlace } from './token-place.ts'
import { findSingleToken, isDescriptionTaken, listTokens, type TokenOwner } from './token-store.ts'
import { createToken, problemsOfToken, readTokenRequest, tokenBody } from './tokens.ts'

const ownerOf = (team: TeamRow): TokenOwner => ({ kind: 'team', teamId: team.id })

/** go-tfe compares title and detail with these texts. */
const DESCRIPTION_IS_TAKEN: Problem = {
  title: 'invalid attributes',
  detail: 'Validation failed: Description has already been taken',
  pointer: '/data/attributes/description',
}

/** POST for the single token of `…/authentication-token`, or for one of the team's further tokens. */
function creatingRoute(suffix: string, isSingle: boolean, summary: string): Route {
  return write(teamPlace, suffix, {
    method: 'POST',
    status: 201,
    permission: 'team:tokens',
    summary,
    answers: 'authentication-tokens',
    accepts: tokenBody,
    refuses: [403],
    body: readTokenRequest,
    problems: async ({ tx, deps, actor: maker, resource: { team, organization }, body, problems }) => {
      const owner = ownerOf(team)
      const { description } = body
      const replaced = isSingle ? await findSingleToken(tx, owner) : undefined
      if (description && (await isDescriptionTaken(tx, owner, description, replaced?.id)))
        problems.push(DESCRIPTION_IS_TAKEN)
      const made = { owner, organization, maker }
      problems.push(...(await problemsOfToken(tx, deps, made, body, replaced !== undefined)))
      return replaced
    },
    act: async ({ tx, deps, actor, resource: { team, organization }, body, checked: replaced }) => {
      const owner = ownerOf(team)
      const { description } = body
      const userId = await ensureServiceAccount(tx, deps, team)
      const made = { owner, userId, organization, isSingle, maker: actor, replaced: replaced?.id }
      const { token, text } = await createToken(tx, deps, made, body)
      const details = {
        team: team.name,
        description,
        'expired-at': token.expires_at,
        replaced: replaced?.id,
      }
      return done({ ...token, text }, { action: 'team-token.create', details })
    },
    document: async (context) =>
      document(tokenFragment(context.result, await viewerOf(context), context.result.text)),
  })
}

export const teamTokenRoutes: readonly Route[] = [
  creatingRoute('/authentication-token', true, "Create a team's single token, in place of the one before"),

  read(teamPlace, '/authentication-token', {
    permission: 'team:tokens',
    summary: "Show a team's single token",
    answers: 'authentication-tokens',
    document: async (context) => {
      const token = await findSingleToken(context.tx, ownerOf(context.resource.team))
      if (token === undefined) throw notFound()
      return document(tokenFragment(token, await viewerOf(context)))
    },
  }),

  write(teamOrItsTokenPlace, '/authentication-token', {
    method: 'DELETE',
    status: 204,
    permission: 'team:tokens',
    summary: "Delete a team's single token, or the team token that is named in place of the team",
    act: async ({ tx, resource: { team, organization, named } }) => {
      const token = named ?? (await findSingleToken(tx, ownerOf(team)))
      if (token === undefined) throw notFound()
      return doneAll(token, [await deleteTeamToken(tx, token, team, organization)])
    },
  }),

  creatingRoute('/authentication-tokens', false, 'Create a team token beside others'),

  list(teamPlace, '/authentication-tokens', {
    permission: 'team:tokens',
    summary: "List a team's tokens",
    answers: 'authentication-tokens',
    document: async (context) => {
      const { tx, resource, page, paging } = context
      const viewer = await viewerOf(context)
      const { rows, total } = await listTokens(tx, ownerOf(resource.team), page)
      const fragments = rows.map((token) => tokenFragment(token, viewer))
      return listDocument(fragments, paging(total))
    },
  }),
]
