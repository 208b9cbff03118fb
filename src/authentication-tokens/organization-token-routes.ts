import { AppError, notFound } from '../core/errors.ts'
import { created, noContent, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { document } from '../jsonapi/document.ts'
import { loadOrganization, organizationOfPath } from '../organizations/organization-of-path.ts'
import { deleteOrganizationToken } from './token-deletion.ts'
import { tokenFragment } from './token-document.ts'
import { deleteToken, findSingleToken, type TokenOwner } from './token-store.ts'
import { createToken, parseTokenRequest, tokenBody } from './tokens.ts'
import { choice } from '../jsonapi/parameters.ts'

const PATH = '/organizations/:organization_name/authentication-token'
const query = {
  token: choice('audit-trails: the token that reads audit trails and does nothing else', 'audit-trails'),
}

type Kind = 'organization' | 'audit-trails'

const address = (call: Call) => {
  const given = call.query.text('token')
  if (given !== undefined && given !== 'audit-trails') {
    // A request for a weaker token must not get the organization token.
    throw new AppError('invalid-query', [
      { detail: 'token must be audit-trails or absent', parameter: 'token' },
    ])
  }
  const kind: Kind = given ?? 'organization'
  const name = organizationOfPath(call)
  return name === undefined ? undefined : { name, kind }
}

const ownerOf = (kind: Kind, organization: { id: string }): TokenOwner => ({
  kind,
  organizationId: organization.id,
})

const create = writeRoute({
  method: 'POST',
  path: PATH,
  permission: 'organization:token',
  summary: "Create an organization's token, in place of the one before",
  query,
  answers: 'authentication-tokens',
  status: 201,
  accepts: tokenBody,
  address,
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  body: (bytes, _, deps) => parseTokenRequest(bytes, deps),
  act: async (context) => {
    const { tx, deps, actor, address, resource, body, audit } = context
    const { organization } = resource
    const owner = ownerOf(address.kind, organization)
    const replaced = await findSingleToken(tx, owner)
    if (replaced !== undefined) await deleteToken(tx, replaced.id)
    const { token, text } = await createToken(
      tx,
      deps,
      { owner, userId: null, organization, isSingle: true, maker: actor },
      body,
    )
    audit({
      action: `${address.kind}-token.create`,
      organizationId: organization.id,
      resourceType: 'authentication-tokens',
      resourceId: token.id,
      details: { organization: organization.name, 'expired-at': token.expires_at, replaced: replaced?.id },
    })
    return created(document(tokenFragment(token, { ...context, organization }, text)))
  },
})

const show = readRoute({
  path: PATH,
  permission: 'organization:token',
  summary: "Show an organization's token",
  query,
  answers: 'authentication-tokens',
  address,
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  document: async (context) => {
    const { organization } = context.resource
    const token = await findSingleToken(context.tx, ownerOf(context.address.kind, organization))
    if (token === undefined) throw notFound()
    return ok(document(tokenFragment(token, { ...context, organization })))
  },
})

const remove = writeRoute({
  method: 'DELETE',
  path: PATH,
  permission: 'organization:token',
  summary: "Delete an organization's token",
  query,
  status: 204,
  address,
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  act: async ({ tx, address, resource, audit }) => {
    const { organization } = resource
    const token = await findSingleToken(tx, ownerOf(address.kind, organization))
    if (token === undefined) throw notFound()
    audit(await deleteOrganizationToken(tx, token, organization))
    return noContent
  },
})

export const organizationTokenRoutes: readonly Route[] = [create, show, remove]
