import type { KyselyPlugin } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import type { Transaction } from '../src/database/database.ts'
import type { PreparedQuery } from '../src/database/prepared.ts'
import type { Client } from './support/client.ts'
import { changesOf } from './support/dry-runs.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import type { TestServer } from './support/server.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  type Member,
} from './support/world.ts'

/** A plugin that adds the tables of each select to the set. */
const notingPlugin = (tables: Set<string>): KyselyPlugin => ({
  transformQuery: ({ node }) => {
    const from = node.kind === 'SelectQueryNode' ? JSON.stringify(node.from) : ''
    for (const [, table = ''] of from.matchAll(/"identifier":\{[^}]*"name":"(\w+)"/g)) tables.add(table)
    return node
  },
  transformResult: ({ result }) => Promise.resolve(result),
})

/** The same transaction. It adds the tables that it reads to the set. */
function watched(tx: Transaction, tables: Set<string>): Transaction {
  const plugin = notingPlugin(tables)
  const noted = <V extends Record<string, unknown>, R>(query: PreparedQuery<V, R>) => {
    tables.add(/from "(\w+)"/.exec(query.sql(tx.engine))?.[1] ?? '')
    return query
  }
  return {
    engine: tx.engine,
    mode: tx.mode,
    get db() {
      return tx.db.withPlugin(plugin)
    },
    all: (query, values) => tx.all(noted(query), values),
    first: (query, values) => tx.first(noted(query), values),
    repeat: (query, values) => tx.repeat(noted(query), values),
    send: (query, values) => tx.send(noted(query), values),
    beforeCommit: (work, items) => tx.beforeCommit(work, items),
    afterCommit: (act) => tx.afterCommit(act),
  }
}

/** The tables that write transactions read during the act. */
async function tablesReadInWrites({ app }: TestServer, act: () => Promise<void>): Promise<string[]> {
  const { database } = app.deps
  const write = database.write.bind(database)
  const tables = new Set<string>()
  database.write = (work, options) => write((tx) => work(watched(tx, tables)), options)
  try {
    await act()
  } finally {
    database.write = write
  }
  return [...tables]
}

onEachEngine('the write lock of a dry run', (server) => {
  let client: Client
  let team: string
  let member: Member
  let grant: string
  let workspace: string
  let project: string
  beforeAll(async () => {
    const organization = await createTestOrganization(server)
    client = organization.owner.client
    workspace = await createWorkspace(organization)
    project = await createProject(organization)
    team = await createTeam(organization)
    const other = await createTeam(organization)
    member = await addMember(server, organization, [team, other])
    grant = await grantWorkspace(organization, team, workspace, { access: 'read' })
    await grantProject(organization, team, project, { access: 'write' })
  })

  const placesAndGrants = ['workspaces', 'projects', 'team_workspaces', 'team_projects']

  test('covers the team, but no places, grants and users, if permissions of the team change', async () => {
    const flags = body('teams', { 'organization-access': { 'manage-workspaces': true } })
    const tables = await tablesReadInWrites(server, async () => {
      const answer = await client.patch(`/teams/${team}?dry-run=true`, flags)
      expect(changesOf(answer).length).toBeGreaterThan(3)
    })
    expect(tables).toContain('teams')
    for (const table of [...placesAndGrants, 'users']) expect(tables).not.toContain(table)
  })

  test('covers no places and grants if a member leaves the team', async () => {
    const leaving = { data: [{ type: 'users', id: member.id }] }
    const tables = await tablesReadInWrites(server, async () => {
      const path = `/teams/${team}/relationships/users?dry-run=true`
      expect(changesOf(await client.request('DELETE', path, leaving)).length).toBeGreaterThan(0)
    })
    expect(tables).toContain('teams')
    for (const table of placesAndGrants) expect(tables).not.toContain(table)
  })

  test('covers no grants if a workspace moves', async () => {
    const moved = body('workspaces', {}, inProject(project))
    const tables = await tablesReadInWrites(server, async () => {
      expect(changesOf(await client.patch(`/workspaces/${workspace}?dry-run=true`, moved))).toHaveLength(2)
    })
    expect(tables).toContain('workspaces')
    for (const table of ['team_workspaces', 'team_projects', 'team_members', 'users']) {
      expect(tables).not.toContain(table)
    }
  })

  test('covers no places and grants if somebody is removed', async () => {
    const tables = await tablesReadInWrites(server, async () => {
      const path = `/organization-memberships/${member.membershipId}?dry-run=true`
      expect(changesOf(await client.delete(path)).length).toBeGreaterThan(0)
    })
    expect(tables).toContain('memberships')
    for (const table of placesAndGrants) expect(tables).not.toContain(table)
  })

  test('covers the grant that is deleted', async () => {
    const tables = await tablesReadInWrites(server, async () => {
      expect(changesOf(await client.delete(`/team-workspaces/${grant}?dry-run=true`))).toHaveLength(2)
    })
    expect(tables).toContain('team_workspaces')
  })
})
