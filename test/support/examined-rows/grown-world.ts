// An organization that is about as large as the default limits allow, written directly to the database.
import { sql } from 'kysely'
import { learnTables } from '../../../src/database/portable.ts'
import { bumpVersion } from '../../../src/organizations/organization-store.ts'
import type { Client } from '../client.ts'
import type { TestServer } from '../server.ts'
import { createState } from '../states.ts'
import {
  addMember,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  made,
} from '../world.ts'
import { id, insert, n, named, number, text } from './bulk-rows.ts'

const TEAMS = 200_000
const WORKSPACES = 20_000
const MEMBERS = 5_000
const PROJECTS = 1_000
const TAGS = 1_000
const TEAM_TOKENS = 1_000
const ORGANIZATIONS = 1_000
const VERSIONS = 900
const EVENTS = 20_000
const REFUSALS = 300
const WHEN = '2026-01-01T00:00:00.000Z'
const LATER = '2099-01-01T00:00:00.000Z'

/** The values of each parameter of a path: first a small object, then one with very much in it. */
export type GrownWorld = {
  readonly organization: { readonly id: string; readonly name: string }
  readonly callers: Readonly<Record<'owner' | 'member' | 'administrator' | 'audit token', Client>>
  readonly values: Readonly<Record<string, readonly string[]>>
}

export async function createGrownWorld(server: TestServer): Promise<GrownWorld> {
  const { database } = server.app.deps
  const organization = await createTestOrganization(server)
  const { client } = organization.owner
  const [crowd, granted, small] = [
    await createTeam(organization, { name: 'a-crowd' }),
    await createTeam(organization, { name: 'a-granted', visibility: 'organization' }),
    await createTeam(organization, { name: 'a-small' }),
  ]
  const member = await addMember(server, organization, [crowd, granted, small])
  const projectId = await createProject(organization, { name: 'a-project' })
  const { workspaceId, stateVersionId } = await createState(
    organization,
    '{"a": {"value": 1, "type": "number"}}',
    await createWorkspace(organization, { name: 'a-workspace' }, inProject(projectId)),
  )
  const crowded = await createWorkspace(organization, { name: 'a-crowded' })
  await grantWorkspace(organization, granted, crowded, { access: 'read' })
  const grants = [
    await grantWorkspace(organization, granted, workspaceId, { access: 'admin' }),
    await grantProject(organization, small, projectId, { access: 'admin' }),
  ]
  const shown = made(await client.get(`/organizations/${organization.name}`), 200)
  const defaultProject: string = shown.json.data.relationships['default-project'].data.id

  const of = { organization_id: text(organization.id) }
  const at = { created_at: text(WHEN) }
  const changed = { ...at, updated_at: text(WHEN) }
  const ofGrant = {
    ...of,
    access: text('read'),
    runs: text('read'),
    variables: text('none'),
    state_versions: text('read'),
    sentinel_mocks: text('none'),
    workspace_locking: number(0),
    run_tasks: number(0),
    policy_overrides: number(0),
    ...at,
  }
  await insert(database, 'users', MEMBERS, {
    id: id('user-', 1),
    username: named('person-'),
    username_key: named('person-'),
    ...at,
  })
  await insert(database, 'memberships', MEMBERS, {
    id: id('ou-', 1),
    ...of,
    user_id: id('user-', 1),
    status: text('active'),
    ...at,
  })
  await insert(database, 'teams', TEAMS, {
    id: id('team-', 1),
    ...of,
    name: named('team-'),
    visibility: sql`case when n % 2 = 0 then 'secret' else 'organization' end`,
    users_count: sql`case when n <= ${sql.lit(MEMBERS)} then 1 else 0 end`,
    ...changed,
  })
  for (const teamId of [text(crowd), id('team-', 1)]) {
    const ofMember = { membership_id: id('ou-', 1), user_id: id('user-', 1), ...of, is_active: number(1) }
    await insert(database, 'team_members', MEMBERS, { team_id: teamId, ...ofMember })
  }
  await insert(database, 'projects', PROJECTS, {
    id: id('prj-', 1),
    ...of,
    name: named('project-'),
    settings: text('{}'),
    ...changed,
  })
  await insert(database, 'workspaces', WORKSPACES, {
    id: id('ws-', 1),
    ...of,
    project_id: text(defaultProject),
    name: named('workspace-'),
    terraform_version: text('latest'),
    settings: text('{}'),
    ...changed,
  })
  await insert(database, 'team_workspaces', WORKSPACES, {
    id: id('tws-', 1),
    team_id: text(granted),
    workspace_id: id('ws-', 1),
    ...ofGrant,
  })
  await insert(database, 'team_workspaces', MEMBERS, {
    id: id('tws-', 2),
    team_id: id('team-', 1),
    workspace_id: text(crowded),
    ...ofGrant,
  })
  await insert(database, 'team_projects', PROJECTS, {
    id: id('tprj-', 1),
    ...of,
    team_id: text(granted),
    project_id: id('prj-', 1),
    access: text('read'),
    state_versions: text('read'),
    workspace_locking: number(0),
    workspace_create: number(0),
    project_access: text('{}'),
    workspace_access: text('{}'),
    ...at,
  })
  await insert(database, 'tags', TAGS, { id: id('tag-', 1), ...of, name: named('tag-'), ...at })
  await insert(database, 'workspace_tags', WORKSPACES, {
    workspace_id: id('ws-', 1),
    tag_id: sql`'tag-' || ${sql.raw("replace(cast(1000000000000000 + 1 as text), '0', 'a')")}`,
  })
  await insert(database, 'tag_bindings', WORKSPACES, {
    id: named('binding-'),
    ...of,
    workspace_id: id('ws-', 1),
    key: text('env'),
    value: named('value-'),
    ...at,
  })
  await insert(database, 'authentication_tokens', TEAM_TOKENS, {
    id: id('at-', 1),
    hash: named('hash-'),
    kind: text('team'),
    team_id: id('team-', 1),
    ...of,
    ...at,
    expires_at: text(LATER),
  })
  await insert(database, 'organizations', ORGANIZATIONS, {
    id: id('org-', 1),
    name: named('other-'),
    email: text('other@example.com'),
    default_project_id: text(''),
    owners_team_id: text(''),
    settings: text('{}'),
    ...changed,
  })
  await insert(database, 'state_versions', VERSIONS, {
    id: id('sv-', 1),
    workspace_id: text(crowded),
    number: n,
    ...of,
    output_key: named('key-'),
    serial: n,
    md5: text(''),
    status: text('finalized'),
    resources_processed: number(1),
    wrapped_key: sql`(select wrapped_key from state_versions where id = ${sql.lit(stateVersionId)})`,
    ...at,
    finalized_at: text(WHEN),
  })
  await insert(database, 'audit_events', EVENTS, {
    at: text(WHEN),
    actor_kind: text('user'),
    actor_id: text(organization.owner.id),
    actor_name: text('owner'),
    action: sql`case when n % 100 = 0 then 'team.create' else 'team.update' end`,
    ...of,
    resource_type: text('teams'),
    resource_id: text(small),
    details: text('{}'),
    position: sql`n + 1000`,
    mac: sql`(select mac from audit_events where mac is not null limit 1)`,
  })
  await insert(database, 'refusals', REFUSALS, {
    request_id: named('request-'),
    at: text(WHEN),
    ...of,
    method: text('GET'),
    path: named('/teams/'),
    reason: text('missing'),
    is_found: number(0),
    caller_type: text('user'),
    caller_id: text(member.id),
    caller_name: text('member'),
    is_inside: number(1),
    standing: text('[]'),
    granted_by: text('[]'),
    first_at: text(WHEN),
  })
  const { engine } = server
  await database.write(
    async (tx) => {
      const { db } = tx
      await sql`update teams set users_count = users_count + ${sql.lit(MEMBERS)} where id = ${crowd}`.execute(
        db,
      )
      await sql`update audit_chains set position = ${sql.lit(EVENTS + 1000)} where organization_id = ${organization.id}`.execute(
        db,
      )
      await bumpVersion(tx, organization.id, TEAMS)
      await learnTables(db, engine)
    },
    { isLong: true },
  )

  const auditToken = made(
    await client.post(`/organizations/${organization.name}/authentication-token?token=audit-trails`),
    201,
  )
  const ownToken = made(await client.post(`/users/${organization.owner.id}/authentication-tokens`), 201)
  made(await client.post(`/teams/${small}/authentication-token`), 201)
  const outputs = made(await client.get(`/state-versions/${stateVersionId}/outputs`), 200)
  return {
    organization,
    callers: {
      owner: client,
      member: member.client,
      administrator: server.admin,
      'audit token': server.client(auditToken.json.data.attributes.token),
    },
    values: {
      organization_name: [organization.name],
      organization_membership_id: [member.membershipId],
      team_id: [small, granted, crowd],
      user_id: [organization.owner.id, member.id],
      project_id: [projectId, defaultProject],
      workspace_id: [workspaceId, crowded],
      workspace_name: ['a-workspace'],
      team_workspace_id: [grants[0] ?? ''],
      team_project_id: [grants[1] ?? ''],
      state_version_id: [stateVersionId],
      state_version_output_id: [outputs.json.data[0].id],
      token_id: [ownToken.json.data.id],
      session_id: ['as-1111111111111111'],
      // Parameters of the query.
      'filter[organization][name]': [organization.name],
      'filter[workspace][name]': ['a-workspace', 'a-crowded'],
      'filter[workspace][id]': [workspaceId, crowded],
      'filter[project][id]': [projectId, defaultProject],
      'filter[team][id]': [small],
      'filter[exclude][taggable][id]': [workspaceId],
      'filter[names]': ['a-small,a-project,a-workspace'],
      'filter[email]': ['a@example.com'],
      'filter[tagged][0][key]': ['env'],
      'filter[user]': [member.id],
      'filter[actor]': [organization.owner.id],
      'filter[action]': ['team.create'],
      'filter[address]': ['127.0.0.1'],
      'filter[resource-type]': ['teams'],
      'filter[resource-id]': [small],
      'search[tags]': ['tag-1', 'tag-2'],
      'search[exclude-tags]': ['tag-1', 'tag-2'],
      'search[wildcard-name]': ['workspace-1*'],
      user: [organization.owner.id, member.id],
      team: [small, granted, crowd],
      workspace: [workspaceId],
      project: [projectId],
      // Another meaning in each route.
      since: [],
      'filter[since]': ['2025-01-01T00:00:00Z'],
      'filter[until]': ['2027-01-01T00:00:00Z'],
      'page[number]': ['2'],
      'page[size]': ['100'],
      'filter[tagged][0][value]': [''],
    },
  }
}
