import { invalidQuery, notFound } from '../core/errors.ts'
import { done, doneAll } from '../http/outcome.ts'
import { read } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { document } from '../jsonapi/document.ts'
import { choice, type QueryParameter } from '../jsonapi/parameters.ts'
import { organizationPlace } from '../organizations/organization-place.ts'
import { deleteOrganizationToken } from './token-deletion.ts'
import { tokenFragment, viewerOf } from './token-document.ts'
import { findSingleToken, type TokenOwner } from './token-store.ts'
import { createToken, problemsOfToken, readTokenRequest, tokenBody } from './tokens.ts'

type Kind = 'organization' | 'audit-trails'

const kindParameter: QueryParameter<Kind> = {
  ...choice('audit-trails: the token that reads audit trails and does nothing else', 'audit-trails'),
  read: (asked, name) => {
    const given = asked.given(name)
    if (given === undefined) return 'organization'
    if (given === 'audit-trails') return given
    // A request for a weaker token must not get the organization token.
    throw invalidQuery('token must be audit-trails or absent', name)
  },
}
const query = { token: kindParameter }

const ownerOf = (asked: { token: Kind }, organization: { id: string }): TokenOwner => ({
  kind: asked.token,
  organizationId: organization.id,
})

export const organizationTokenRoutes: readonly Route[] = [
  write(organizationPlace, '/authentication-token', {
    method: 'POST',
    status: 201,
    permission: 'organization:token',
    summary: "Create an organization's token, in place of the one before",
    query,
    answers: 'authentication-tokens',
    accepts: tokenBody,
    refuses: [403],
    keepsAccess: true,
    body: readTokenRequest,
    problems: async ({
      tx,
      deps,
      actor: maker,
      query: asked,
      resource: { organization },
      body,
      problems,
    }) => {
      const made = { owner: ownerOf(asked, organization), organization, maker }
      problems.push(...(await problemsOfToken(tx, deps, made, body, true)))
    },
    act: async ({ tx, deps, actor, query: asked, resource: { organization }, body }) => {
      const owner = ownerOf(asked, organization)
      const replaced = await findSingleToken(tx, owner)
      const own = { owner, userId: null, organization, isSingle: true }
      const made = { ...own, maker: actor, replaced: replaced?.id }
      const { token, text } = await createToken(tx, deps, made, body)
      const details = {
        organization: organization.name,
        'expired-at': token.expires_at,
        replaced: replaced?.id,
      }
      return done({ ...token, text }, { action: `${asked.token}-token.create`, details })
    },
    document: async (context) =>
      document(tokenFragment(context.result, await viewerOf(context), context.result.text)),
  }),

  read(organizationPlace, '/authentication-token', {
    permission: 'organization:token',
    summary: "Show an organization's token",
    query,
    answers: 'authentication-tokens',
    document: async (context) => {
      const token = await findSingleToken(context.tx, ownerOf(context.query, context.resource.organization))
      if (token === undefined) throw notFound()
      return document(tokenFragment(token, await viewerOf(context)))
    },
  }),

  write(organizationPlace, '/authentication-token', {
    method: 'DELETE',
    status: 204,
    permission: 'organization:token',
    summary: "Delete an organization's token",
    query,
    keepsAccess: true,
    act: async ({ tx, query: asked, resource: { organization } }) => {
      const token = await findSingleToken(tx, ownerOf(asked, organization))
      if (token === undefined) throw notFound()
      return doneAll(token, [await deleteOrganizationToken(tx, token, organization)])
    },
  }),
]
