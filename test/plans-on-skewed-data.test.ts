import { Client as PostgresClient } from 'pg'
import { expect, test, vi } from 'vitest'
import { onPostgres } from './support/on-each-engine.ts'
import { TOGETHER } from './support/statements.ts'
import { createState } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
} from './support/world.ts'

type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

const TEAMS = 20_000
const large = new Set(['teams', 'team_members', 'workspaces', 'team_workspaces', 'state_versions'])

/** SQL for a valid id with this number. */
function idOf(type: string, number: string): string {
  return `'${type}-' || translate(lpad((${number})::text, 16, 'x'), '0', 'Z')`
}

/** How many rows the nodes of an executed plan looked at. */
function rowsSeenIn({ Plans: children = [], ...node }: PlanNode): number {
  const once = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)
  return children.reduce((sum, child) => sum + rowsSeenIn(child), once * (node['Actual Loops'] ?? 1))
}

function scannedIn({ Plans: children = [], ...node }: PlanNode): string[] {
  const own = node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? ''] : []
  return [...own, ...children.flatMap(scannedIn)]
}

// PostgreSQL plans the statement of a read without its values: it knows how many teams a user has on average only.
onPostgres('repeated reads', (server, query) => {
  /** Tables that the statement reads from their first to their last row. */
  const scannedBy = async (text: string, valueCount: number): Promise<string[]> => {
    // A generic plan does not depend on the values.
    const nulls = Array.from({ length: valueCount }, () => 'null').join(', ')
    await query('set plan_cache_mode = force_generic_plan')
    await query(`prepare read as ${text}`)
    const { rows } = await query(`explain (format json) execute read(${nulls})`)
    await query('deallocate read')
    return scannedIn(rows[0]['QUERY PLAN'][0].Plan)
  }

  /** How many rows a statement looks at for these values. */
  const seenBy = async (text: string, values: readonly string[]): Promise<number> => {
    await query('set plan_cache_mode = force_generic_plan')
    await query(`prepare read as ${text}`)
    const literals = values.map((value) => `'${value}'`).join(', ')
    const { rows } = await query(`explain (analyze, format json) execute read(${literals})`)
    await query('deallocate read')
    return rowsSeenIn(rows[0]['QUERY PLAN'][0].Plan)
  }

  test('read no large table whole where most users are in thousands of teams', async () => {
    const organization = await createTestOrganization(server)
    const owner = organization.owner.client
    const teamId = await createTeam(organization)
    const member = await addMember(server, organization, [teamId])
    const { workspaceId } = await createState(organization, '{"a": {"value": 1, "type": "number"}}')
    await grantWorkspace(organization, teamId, workspaceId, { access: 'read' })
    await query(
      `insert into teams (id, organization_id, name, visibility, organization_access,
         allow_member_token_management, is_owners, created_at, updated_at)
       select ${idOf('team', 'n')}, organization_id, 'many-' || n, 'secret', 0, 1, 0, created_at, updated_at
       from teams cross join generate_series(1, ${TEAMS}) n where id = $1`,
      [teamId],
    )
    await query(
      `insert into team_members (team_id, membership_id, user_id, organization_id, is_active)
       select ${idOf('team', 'n')}, membership_id, ${idOf('user', '(n + k) % 10')}, organization_id, 1
       from team_members cross join generate_series(1, ${TEAMS}) n cross join generate_series(1, 3) k
       where team_id = $1`,
      [teamId],
    )
    // The one team has grants on thousands of workspaces, the others on one each.
    const copied = (table: string, ids: string) =>
      `insert into ${table} select (jsonb_populate_record(known, ${ids})).*
       from ${table} known cross join generate_series(1, ${TEAMS}) n where known.workspace_id = $1`
    await query(
      copied(
        'workspaces',
        `jsonb_build_object('id', ${idOf('ws', 'n')}, 'name', 'many-' || n, 'number', n + 1000, 'current_state_version_id', null)`,
      ).replace('known.workspace_id', 'known.id'),
      [workspaceId],
    )
    await query(
      copied(
        'team_workspaces',
        `jsonb_build_object('id', ${idOf('tws', 'n')}, 'workspace_id', ${idOf('ws', 'n')}, 'number', n + 1000)`,
      ),
      [workspaceId],
    )
    await query(
      copied(
        'team_workspaces',
        `jsonb_build_object('id', ${idOf('tws', `n + ${TEAMS}`)}, 'team_id', ${idOf('team', 'n')}, 'number', n + 50000)`,
      ).replace('where', `where known.team_id = '${teamId}' and`),
      [workspaceId],
    )
    await query(
      copied(
        'state_versions',
        `jsonb_build_object('id', ${idOf('sv', 'n')}, 'output_key', 'many-' || n, 'number', -n)`,
      ),
      [workspaceId],
    )
    await query('analyze')

    const sent = vi.spyOn(PostgresClient.prototype, 'query')
    const paths = [
      `/teams/${teamId}`,
      `/organizations/${organization.name}/teams`,
      `/organizations/${organization.name}/workspaces`,
      `/workspaces/${workspaceId}`,
      `/workspaces/${workspaceId}/current-state-version-outputs`,
      `/workspaces/${workspaceId}/current-state-version`,
      `/organizations/${organization.name}/teams?filter[names]=owners`,
    ]
    for (const change of ['one', 'two', 'three']) {
      for (const each of [owner, member.client]) {
        for (const path of [...paths, ...paths]) expect((await each.get(path)).status).toBe(200)
      }
      const made = await owner.post(
        `/organizations/${organization.name}/teams`,
        body('teams', { name: change }),
      )
      expect(made.status).toBe(200)
    }
    const statements = new Map<string, number>()
    for (const [given] of sent.mock.calls as unknown as [{ text?: string; values?: unknown[] }][]) {
      const { text = '', values = [] } = given
      if (TOGETHER.test(text)) statements.set(text, values.length)
    }
    sent.mockRestore()

    expect(statements.size).toBeGreaterThan(3)
    const standing = /from "team_members".*"is_active"/
    expect([...statements.keys()].filter((text) => standing.test(text))).not.toEqual([])
    for (const [text, valueCount] of statements) {
      const scanned = await scannedBy(text, valueCount)
      expect(scanned.filter((table) => large.has(table))).toEqual([])
    }

    // A refusal takes the same time however many teams have grants on the workspace.
    const stranger = await addMember(server, organization)
    const refused = vi.spyOn(PostgresClient.prototype, 'query')
    expect((await stranger.client.get(`/workspaces/${workspaceId}`)).status).toBe(404)
    const calls = refused.mock.calls as unknown as [{ text?: string; values?: string[] }][]
    refused.mockRestore()
    const ofGrants = calls.filter(([{ text = '' }]) => /from "team_workspaces"/.test(text))
    expect(ofGrants).not.toEqual([])
    for (const [{ text = '', values = [] }] of ofGrants) {
      expect(await seenBy(text, values), text).toBeLessThan(50)
    }
  })
})

onPostgres('a small organization beside a large one', (server, query) => {
  test('has its lists read from few rows', async () => {
    const large = await createTestOrganization(server)
    const copied = (table: string, count: number, values: string) =>
      `insert into ${table} select (jsonb_populate_record(known, ${values})).*
       from ${table} known cross join generate_series(1, ${count}) n where known.id = $1`
    const workspaceId = await createWorkspace(large)
    const teamId = await createTeam(large)
    const grantId = await grantWorkspace(large, teamId, workspaceId, { access: 'read' })
    await query(
      copied('workspaces', TEAMS, `jsonb_build_object('id', ${idOf('ws', 'n')}, 'name', 'many-' || n)`),
      [workspaceId],
    )
    await query(
      copied(
        'team_workspaces',
        TEAMS,
        `jsonb_build_object('id', ${idOf('tws', 'n')}, 'workspace_id', ${idOf('ws', 'n')})`,
      ),
      [grantId],
    )
    const small = await createTestOrganization(server)
    const ownTeamId = await createTeam(small)
    const ownId = await createWorkspace(small)
    await grantWorkspace(small, ownTeamId, ownId, { access: 'read' })
    const member = await addMember(server, small, [ownTeamId])
    const tag = { data: [{ type: 'tags', attributes: { name: 'own' } }] }
    const tagged = await small.owner.client.post(`/workspaces/${ownId}/relationships/tags`, tag)
    expect(tagged.status).toBe(204)
    await query('analyze')

    const sent = vi.spyOn(PostgresClient.prototype, 'query')
    const paths = [
      `/organizations/${small.name}/workspaces?sort=-name`,
      `/organizations/${small.name}/tags`,
      `/workspaces/${ownId}/relationships/tags`,
      `/teams/${ownTeamId}/access-grants`,
    ]
    for (const path of paths) expect((await member.client.get(path)).status, path).toBe(200)
    const calls = sent.mock.calls as unknown as [string | { text: string; values?: unknown[] }][]
    sent.mockRestore()
    const begin = calls.find(
      ([call]) => typeof call === 'string' && call.startsWith('begin isolation level re'),
    )
    const reads = calls.flatMap(([call]) =>
      typeof call !== 'string' && /team_workspaces/.test(call.text) ? [call] : [],
    )
    expect(reads.length).toBeGreaterThan(3)
    await query(begin?.[0] as string)
    for (const { text, values } of reads) {
      const { rows } = await query(`explain (analyze, format json) ${text}`, values)
      expect(rowsSeenIn(rows[0]['QUERY PLAN'][0].Plan), text).toBeLessThan(200)
    }
    await query('rollback')
  })
})

function indexesIn({ Plans: children = [], ...node }: PlanNode): string[] {
  return [node['Index Name'] ?? '', ...children.flatMap(indexesIn)].filter((name) => name !== '')
}

onPostgres('pages of workspaces', (server, query) => {
  test('are read by their ids alone, also while there are no statistics of thousands of new ones', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await createWorkspace(organization)
    await query('alter table workspaces set (autovacuum_enabled = off)')
    await query(
      `insert into workspaces select (jsonb_populate_record(known,
         jsonb_build_object('id', ${idOf('ws', 'n')}, 'name', 'many-' || n))).*
       from workspaces known cross join generate_series(1, ${TEAMS}) n where known.id = $1`,
      [workspaceId],
    )
    const sent = vi.spyOn(PostgresClient.prototype, 'query')
    const list = await client.get(`/organizations/${organization.name}/workspaces?sort=-name`)
    const statements = sent.mock.calls as unknown as [{ text?: string; values?: unknown[] }][]
    const reading = statements.filter(([{ text }]) =>
      text?.startsWith('select * from "workspaces" where "id" in'),
    )
    sent.mockRestore()
    expect(list.json.meta.pagination['total-count']).toBe(TEAMS + 2)
    expect(reading).toHaveLength(1)
    for (const [{ text, values }] of reading) {
      const { rows } = await query(`explain (format json) ${text}`, values)
      expect(new Set(indexesIn(rows[0]['QUERY PLAN'][0].Plan))).toEqual(new Set(['workspaces_pkey']))
    }
  })
})

onPostgres('a page of all users', (server, query) => {
  test('is read in their order from an index', async () => {
    await query(
      `insert into users select (jsonb_populate_record(known, jsonb_build_object('id', ${idOf('user', 'n')},
         'username', 'many-' || n, 'username_key', 'many-' || n, 'email', null, 'email_key', null))).*
       from users known cross join generate_series(1, ${TEAMS}) n where known.is_site_admin = 1`,
    )
    await query('analyze users')
    const sent = vi.spyOn(PostgresClient.prototype, 'query')
    const list = await server.admin.get('/admin/users')
    const calls = sent.mock.calls as unknown as [{ text?: string; values?: unknown[] }][]
    sent.mockRestore()
    expect(list.json.meta.pagination['total-count']).toBeGreaterThan(TEAMS)
    const pages = calls.filter(([{ text = '' }]) => /^select \* from "users" .* order by /.test(text))
    expect(pages).toHaveLength(1)
    for (const [{ text = '', values }] of pages) {
      const { rows } = await query(`explain (analyze, format json) ${text}`, values)
      expect(indexesIn(rows[0]['QUERY PLAN'][0].Plan)).toEqual(['users_listed'])
      expect(rowsSeenIn(rows[0]['QUERY PLAN'][0].Plan)).toBeLessThan(200)
    }
  })
})
