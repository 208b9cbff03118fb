import { NO_ID, idInPath } from '../core/ids.ts'
import type { Loading } from '../http/route.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { findTag } from './tag-store.ts'

/** The tag that a path names. */
export const tagPlace = {
  path: '/tags/:tag_id',
  type: 'tags',
  address: idInPath('tag', 'tag_id'),
  load: async ({ tx, address }: Loading<{ id: string }>) => {
    const tag = await findTag(tx, address.id)
    const organization = await findOrganization(tx, tag?.organization_id ?? NO_ID)
    return tag === undefined || organization === undefined ? undefined : { tag, organization, target: {} }
  },
}
