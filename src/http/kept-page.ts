import type { Readable } from 'node:stream'
import type { OrganizationFacts } from '../access/standing.ts'
import type { Page } from '../jsonapi/paging.ts'
import { ok, type Answer } from './call.ts'
import type { Viewer } from './route.ts'

/**
 * A page of a list that is kept ready-made. What it says may depend on nothing but the organization's version, the caller,
 * what `name` names and which page it is: so nothing is ever invalidated.
 *
 * @param name undefined: the page is not kept
 */
export async function keptPage(
  viewer: Viewer,
  organization: OrganizationFacts,
  name: string | undefined,
  { number, size }: Page,
  make: () => Promise<string | Readable>,
): Promise<Answer> {
  if (name === undefined) return ok(await make())
  const { documents } = viewer.deps
  const key = keyOf(viewer, organization, `${name} ${number} ${size}`)
  const kept = documents.get<Buffer>(key)
  if (kept !== undefined) return ok(kept)
  const made = await make()
  if (typeof made !== 'string') return ok(made)
  const body = Buffer.from(made)
  documents.set(key, body)
  return ok(body)
}

/** The same of a document about one resource. It is kept when it is asked for a second time, since there are very many. */
export async function keptDocument(
  viewer: Viewer,
  organization: OrganizationFacts,
  name: string,
  make: () => Promise<string | Readable>,
): Promise<Answer> {
  const { documents } = viewer.deps
  const key = keyOf(viewer, organization, name)
  const kept = documents.get<Buffer>(key)
  if (kept !== undefined) return ok(kept)
  const made = await make()
  if (typeof made !== 'string') return ok(made)
  const body = Buffer.from(made)
  documents.setWhenWantedAgain(key, body)
  return ok(body)
}

function keyOf({ actor, standing }: Viewer, { id, version }: OrganizationFacts, name: string): string {
  return `${id} ${version} ${name} ${actor.kind} ${actor.userId ?? actor.organizationId} ${standing.columns}`
}
