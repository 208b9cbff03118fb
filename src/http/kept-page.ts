import type { Readable } from 'node:stream'
import type { OrganizationFacts } from '../access/standing.ts'
import type { Page } from '../jsonapi/paging.ts'
import { ok, type Answer } from './call.ts'
import type { Viewer } from './route.ts'

/**
 * A page of a list that is kept ready-made. What it says may depend on nothing but the organization's version, what
 * `name` names and which page it is: so nothing is ever invalidated.
 *
 * @param name undefined: the page is not kept
 */
export async function keptPage(
  { deps, actor, standing }: Viewer,
  { id, version }: OrganizationFacts,
  name: string | undefined,
  { number, size }: Page,
  make: () => Promise<string | Readable>,
): Promise<Answer> {
  if (name === undefined) return ok(await make())
  const caller = `${actor.kind} ${actor.userId ?? actor.organizationId} ${standing.columns}`
  const key = `${id} ${version} ${name} ${caller} ${number} ${size}`
  const kept = deps.documents.get<Buffer>(key)
  if (kept !== undefined) return ok(kept)
  const made = await make()
  if (typeof made !== 'string') return ok(made)
  const body = Buffer.from(made)
  deps.documents.set(key, body)
  return ok(body)
}
