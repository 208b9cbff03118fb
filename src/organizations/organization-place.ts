import { nowhere } from '../access/standing.ts'
import { isName } from '../core/names.ts'
import type { Call } from '../http/call.ts'
import type { Loading } from '../http/route.ts'
import { findOrganizationByName } from './organization-store.ts'

type Address = { readonly name: string }

/** The organization that a path names. */
export const organizationPlace = {
  path: '/organizations/:organization_name',
  type: 'organizations',
  address: ({ params }: Call): Address | undefined => {
    const { organization_name: name } = params
    return name !== undefined && isName(name) ? { name } : undefined
  },
  load: async ({ tx, address }: Loading<Address>) => {
    const organization = await findOrganizationByName(tx, address.name)
    return organization === undefined ? undefined : { organization, target: {} }
  },
}

/** The same with the caller's grants on any workspace or project, for routes where only callers with a grant may list. */
export const organizationWithGrantsPlace = {
  ...organizationPlace,
  load: async ({ tx, address, actor, deps }: Loading<Address>) => {
    const organization = await findOrganizationByName(tx, address.name)
    const grants = await deps.grants.anywhere(tx, actor, organization ?? nowhere)
    return organization === undefined ? undefined : { organization, target: { grants } }
  },
}
