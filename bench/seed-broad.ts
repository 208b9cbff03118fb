// An organization with many workspaces, many members, and one workspace that many teams may access.
import { newId } from '../src/core/ids.ts'
import type { Database } from '../src/database/database.ts'
import { bumpVersion } from '../src/organizations/organization-store.ts'
import { addTag, defaultProjectOf, insertMany, readGrant, workspaceRow } from './bulk.ts'
import { createSeeded, teamName, type Person } from './seed.ts'

export type Broad = { name: string; owner: Person; workspaceId: string }

export const BROAD = 10_000
/** Workspaces with the same number modulo this one share a tag. */
const NUMBERS = 100

export async function createBroad(database: Database): Promise<Broad> {
  const plan = { name: 'broad', teams: BROAD + 1, membersOfTeam: 1, users: BROAD }
  const organization = await createSeeded(database, plan)
  const { id: organizationId, teams } = organization
  const projectId = await defaultProjectOf(database, organization)
  const ids = Array.from({ length: BROAD }, () => newId('workspace'))
  const idOf = (number: number) => ids[number] ?? ''
  await insertMany(database, 'workspaces', BROAD, (number) =>
    workspaceRow(organizationId, projectId, idOf(number), teamName(number)),
  )
  await addTag(database, organizationId, 'network', ids)
  for (let number = 0; number < NUMBERS; number += 1) {
    const tagged = ids.filter((_, place) => place % NUMBERS === number)
    await addTag(database, organizationId, `number-${number}`, tagged)
  }
  await insertMany(database, 'team_workspaces', BROAD, (number) =>
    readGrant(organizationId, teams[number]?.id ?? '', idOf(0)),
  )
  await database.write((tx) => bumpVersion(tx, organizationId))
  return { name: organization.name, owner: organization.owner, workspaceId: idOf(0) }
}
