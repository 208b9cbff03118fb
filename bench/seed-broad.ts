// An organization with many workspaces, many members, and one workspace that many teams may access.
import { systemClock, timestamp } from '../src/core/clock.ts'
import { newId } from '../src/core/ids.ts'
import type { Database, Transaction } from '../src/database/database.ts'
import {
  bumpVersion,
  findOrganization,
  type OrganizationRow,
} from '../src/organizations/organization-store.ts'
import { teamWorkspaceStore, toColumns } from '../src/team-access/team-workspace-store.ts'
import { changeWorkspaceGrant } from '../src/team-access/workspace-levels.ts'
import { insertWorkspace } from '../src/workspaces/workspace-store.ts'
import { addTags } from '../src/workspaces/workspace-tag-store.ts'
import { createSeeded, teamName, TEAMS_A_TRANSACTION, type Person, type SeededTeam } from './seed.ts'

export type Broad = { name: string; owner: Person; workspaceId: string }

export const BROAD = 10_000

export async function createBroad(database: Database): Promise<Broad> {
  const at = timestamp(systemClock.now())
  const organization = await createSeeded(database, {
    name: 'broad',
    teams: BROAD + 1,
    membersOfTeam: 1,
    users: BROAD,
  })
  const { default_project_id: projectId } = (await database.read((tx) =>
    findOrganization(tx, organization.id),
  )) as OrganizationRow
  const ids = Array.from({ length: BROAD }, () => newId('workspace'))
  const inTransactions = async (work: (tx: Transaction, number: number) => Promise<unknown>) => {
    for (let from = 0; from < BROAD; from += TEAMS_A_TRANSACTION) {
      await database.write(async (tx) => {
        for (let number = from; number < from + TEAMS_A_TRANSACTION; number += 1) await work(tx, number)
        await bumpVersion(tx, organization.id)
      })
    }
  }
  await inTransactions(async (tx, number) => {
    const id = ids[number] as string
    const name = teamName(number)
    await insertWorkspace(tx, {
      id,
      organization_id: organization.id,
      project_id: projectId,
      name,
      description: null,
      terraform_version: 'latest',
      locked_by_id: null,
      locked_by_kind: null,
      lock_reason: null,
      current_state_version_id: null,
      settings: '{}',
      created_at: at,
      updated_at: at,
    })
    await addTags(tx, { id, organization_id: organization.id }, ['network', `number-${number % 100}`])
  })
  const workspaceId = ids[0] as string
  await inTransactions((tx, number) =>
    teamWorkspaceStore.insert(tx, {
      id: newId('teamWorkspace'),
      organization_id: organization.id,
      team_id: (organization.teams[number] as SeededTeam).id,
      workspace_id: workspaceId,
      ...toColumns(changeWorkspaceGrant(undefined, { access: 'read', details: {} })),
      created_at: at,
    }),
  )
  return { name: organization.name, owner: organization.owner, workspaceId }
}
