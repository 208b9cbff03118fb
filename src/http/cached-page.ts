import type { Readable } from 'node:stream'
import { identityOf } from '../access/actor.ts'
import type { OrganizationFacts } from '../access/standing.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { AnswerBody } from './call.ts'
import type { Viewer } from './route.ts'

/**
 * A list page from the cache. Its content may depend only on the organization's version, the caller's rights, `name`
 * and the page number and size, which form the key, so nothing is ever invalidated.
 *
 * @param name undefined: the page is not cached
 */
export function cachedPage(
  viewer: Viewer,
  organization: OrganizationFacts,
  name: string | undefined,
  { number, size }: Page,
  make: () => Promise<string | Readable>,
): Promise<AnswerBody> {
  if (name === undefined) return make()
  return cached(viewer, organization, `${name} ${number} ${size}`, 'set', make)
}

/** The same for a document about one resource. It is cached at the second request, because there are very many. */
export function cachedDocument(
  viewer: Viewer,
  organization: OrganizationFacts,
  name: string,
  make: () => Promise<string | Readable>,
): Promise<AnswerBody> {
  return cached(viewer, organization, name, 'setWhenWantedAgain', make)
}

async function cached(
  { actor, standing, deps }: Viewer,
  organization: OrganizationFacts,
  name: string,
  cache: 'set' | 'setWhenWantedAgain',
  make: () => Promise<string | Readable>,
): Promise<AnswerBody> {
  const caller = `${identityOf(actor)} ${standing.columns}`
  const key = `${organization.id} ${organization.version} ${name} ${caller}`
  const known = deps.documents.get<Buffer>(key)
  if (known !== undefined) return known
  const made = await make()
  if (typeof made !== 'string') return made
  const body = Buffer.from(made)
  deps.documents[cache](key, body)
  return body
}
