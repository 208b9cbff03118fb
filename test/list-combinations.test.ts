import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compareBytes } from '../src/core/compare-bytes.ts'
import type { Client, Json } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createState, lock } from './support/states.ts'
import type { TestServer } from './support/server.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  inProject,
  invitePerson,
  made,
} from './support/world.ts'

/** An object of a list as the test knows it: its document, and what only other documents say about it. */
type Item = { readonly id: string; readonly attributes: Json; readonly facts: Json }

/** A value of one query parameter, and what the test expects of it, evaluated without SQL. */
type Choice = {
  readonly query: string
  readonly keeps?: (item: Item) => boolean
  readonly order?: (a: Item, b: Item) => number
  /** The value of `include`. */
  readonly include?: string
}

type Listing = {
  readonly client: Client
  readonly path: string
  /** All objects in the order of the list without parameters. */
  readonly items: readonly Item[]
  readonly choices: readonly Choice[]
  /** The address of one object, which takes the same includes. */
  readonly one?: (id: string) => string
}

const has = (text: unknown, part: string) => String(text).toLowerCase().includes(part.toLowerCase())
const byName = (a: Item, b: Item) => compareBytes(a.attributes.name, b.attributes.name)
const reversed = (order: (a: Item, b: Item) => number) => (a: Item, b: Item) => order(b, a)

const bindings = (pairs: Record<string, string>) => ({
  'tag-bindings': {
    data: Object.entries(pairs).map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })),
  },
})

async function itemsOf(
  client: Client,
  path: string,
  factsOf: (id: string) => Promise<Json> = async () => ({}),
) {
  const answer = made(await client.get(`${path}${path.includes('?') ? '&' : '?'}page[size]=100`), 200)
  const items: Item[] = []
  for (const { id, attributes } of answer.json.data) items.push({ id, attributes, facts: await factsOf(id) })
  return items
}

/** Two choices of the same parameter cannot be combined, except includes. */
function areCombined(a: Choice, b: Choice): boolean {
  const names = (choice: Choice) => choice.query.split('&').map((part) => part.split('=', 1)[0])
  return (
    !names(a).some((name) => names(b).includes(name)) || (a.include !== undefined && b.include !== undefined)
  )
}

/** Tries every combination of two choices, and each alone. */
async function checkPairs({ client, path, items, choices, one }: Listing): Promise<number> {
  const included = new Map<string, string[]>()
  const includedOf = async (id: string, include: string): Promise<string[]> => {
    const address = `${one?.(id)}?include=${include}`
    const known = included.get(address)
    if (known !== undefined) return known
    const answer = made(await client.get(address), 200)
    const found = answer.json.included.map((each: Json) => `${each.type} ${each.id}`)
    included.set(address, found)
    return found
  }
  const check = async (pair: readonly Choice[]) => {
    const kept = items.filter((item) => pair.every(({ keeps }) => keeps?.(item) ?? true))
    const order = pair.find((choice) => choice.order !== undefined)?.order
    const expected = order === undefined ? kept : kept.toSorted(order)
    const includes = pair.flatMap(({ include }) => include ?? [])
    const others = pair.filter(({ include }) => include === undefined).map(({ query }) => query)
    const query = [...others, ...(includes.length > 0 ? [`include=${includes.join(',')}`] : [])].join('&')
    const answer = await client.get(`${path}${path.includes('?') ? '&' : '?'}${query}&page[size]=100`)
    const label = `${path} ${query}`
    expect(answer.status, `${label}: ${answer.text.slice(0, 300)}`).toBe(200)
    expect(
      answer.json.data.map(({ id }: Json) => id),
      label,
    ).toEqual(expected.map(({ id }) => id))
    expect(answer.json.meta.pagination['total-count'], label).toBe(expected.length)
    if (includes.length === 0) return
    const wanted = new Set<string>()
    for (const { id } of expected)
      for (const include of includes) for (const each of await includedOf(id, include)) wanted.add(each)
    expect(answer.json.included.map((each: Json) => `${each.type} ${each.id}`).sort(), label).toEqual(
      [...wanted].sort(),
    )
  }
  let tried = 0
  for (const [place, a] of choices.entries()) {
    await check([a])
    for (const b of choices.slice(place + 1)) {
      if (!areCombined(a, b)) continue
      await check([a, b])
      tried += 1
    }
  }
  return tried
}

async function workspaces(server: TestServer): Promise<Listing[]> {
  const organization = await createTestOrganization(server)
  const { client } = organization.owner
  const red = await createProject(organization, { name: 'Red' })
  const plain = await createProject(organization, { name: 'Plain' })
  const bound = bindings({ env: 'prod', 'only-project': 'x' })
  made(await client.patch(`/projects/${red}`, body('projects', {}, bound)), 200)
  const plans: {
    name: string
    project: string
    tags: string[]
    bound: Record<string, string>
    state?: true
  }[] = [
    { name: 'net-a', project: red, tags: [], bound: {} },
    { name: 'net-b', project: red, tags: ['env'], bound: { env: 'dev' }, state: true },
    { name: 'net-c', project: plain, tags: ['env', 'core'], bound: {} },
    { name: 'web-a', project: plain, tags: ['core'], bound: { env: 'dev' }, state: true },
    { name: 'web-b', project: plain, tags: [], bound: { env: '', team: 'a' } },
    { name: 'web-c', project: plain, tags: [], bound: { team: 'b', core: '1' } },
    { name: 'WEB-d', project: red, tags: ['core', 'team'], bound: { env: 'prod' } },
  ]
  for (const { name, project, tags, bound: own, state } of plans) {
    const relations = {
      ...inProject(project),
      tags: { data: tags.map((tag) => ({ type: 'tags', attributes: { name: tag } })) },
      ...bindings(own),
    }
    const id = await createWorkspace(organization, { name }, relations)
    server.clock.advance(1_000)
    if (state === undefined) continue
    await createState(organization, `{"o": {"value": "${name}", "type": "string"}}`, id)
    if (name === 'net-b') await lock(client, id)
  }
  const path = `/organizations/${organization.name}/workspaces`
  const items = await itemsOf(client, path, async (id) => {
    const list = made(await client.get(`/workspaces/${id}/effective-tag-bindings`), 200).json.data
    const workspace = made(await client.get(`/workspaces/${id}`), 200).json.data
    return {
      bound: new Map<string, string>(list.map((each: Json) => [each.attributes.key, each.attributes.value])),
      project: workspace.relationships.project.data.id,
    }
  })
  const names = (item: Item): string[] => [...item.attributes['tag-names'], ...item.facts.bound.keys()]
  const tagged = (key: string, value?: string) => (item: Item) =>
    value === undefined ? item.facts.bound.has(key) : item.facts.bound.get(key) === value
  const byChange = (a: Item, b: Item) =>
    compareBytes(a.attributes['updated-at'], b.attributes['updated-at']) || byName(a, b)
  const includes = [
    'organization',
    'project',
    'outputs',
    'locked_by',
    'current_state_version',
    'effective_tag_bindings',
    'readme',
  ]
  const choices: Choice[] = [
    { query: 'search[name]=WEB', keeps: (item) => has(item.attributes.name, 'web') },
    { query: 'search[wildcard-name]=*-a', keeps: (item) => /-a$/i.test(item.attributes.name) },
    { query: 'search[wildcard-name]=net*', keeps: (item) => /^net/i.test(item.attributes.name) },
    ...[['env'], ['core'], ['env', 'core'], ['env', 'team', 'core'], ['only-project'], ['none']].flatMap(
      (some) => [
        {
          query: `search[tags]=${some.join(',')}`,
          keeps: (item: Item) => some.every((name) => names(item).includes(name)),
        },
        {
          query: `search[exclude-tags]=${some.join(',')}`,
          keeps: (item: Item) => !some.some((name) => names(item).includes(name)),
        },
      ],
    ),
    { query: `filter[project][id]=${red}`, keeps: (item) => item.facts.project === red },
    { query: 'filter[tagged][0][key]=env', keeps: tagged('env') },
    { query: 'filter[tagged][0][key]=env&filter[tagged][0][value]=dev', keeps: tagged('env', 'dev') },
    { query: 'filter[tagged][1][key]=env&filter[tagged][1][value]=prod', keeps: tagged('env', 'prod') },
    { query: 'filter[tagged][2][key]=team', keeps: tagged('team') },
    { query: 'filter[current-run][status]=applied', keeps: () => false },
    { query: 'sort=name', order: byName },
    { query: 'sort=-name', order: reversed(byName) },
    { query: 'sort=latest-change-at', order: byChange },
    { query: 'sort=-latest-change-at', order: reversed(byChange) },
    ...includes.map((include) => ({ query: `include=${include}`, include })),
  ]
  const one = (id: string) => `/workspaces/${id}`
  return [{ client, path, items, choices, one }]
}

async function projects(server: TestServer): Promise<Listing[]> {
  const organization = await createTestOrganization(server)
  const { client } = organization.owner
  const team = await createTeam(organization)
  const member = (await addMember(server, organization, [team])).client
  for (const [name, own, access] of [
    ['Alpha One', { env: 'dev' }, 'admin'],
    ['Alpha Two', { env: 'prod', tier: '1' }, 'maintain'],
    ['Beta One', {}, 'read'],
    ['Beta Two', { env: 'dev', tier: '2' }, 'write'],
  ] as const) {
    const project = await createProject(organization, { name })
    made(await client.patch(`/projects/${project}`, body('projects', {}, bindings(own))), 200)
    const grant = body(
      'team-projects',
      { access },
      {
        team: { data: { type: 'teams', id: team } },
        project: { data: { type: 'projects', id: project } },
      },
    )
    made(await client.post('/team-projects', grant), 201)
  }
  const path = `/organizations/${organization.name}/projects`
  const listings: Listing[] = []
  for (const reader of [client, member]) {
    const items = await itemsOf(reader, path, async (id) => {
      const own = made(await reader.get(`/projects/${id}/tag-bindings`), 200).json.data
      const shown = made(await reader.get(`/projects/${id}`), 200).json.data
      return {
        bound: new Map(own.map((each: Json) => [each.attributes.key, each.attributes.value])),
        permissions: shown.attributes.permissions,
      }
    })
    listings.push({
      client: reader,
      path,
      items,
      one: (id) => `/projects/${id}`,
      choices: [
        { query: 'q=alpha', keeps: (item) => has(item.attributes.name, 'alpha') },
        {
          query: 'filter[names]=Alpha One,Beta Two,None',
          keeps: (item) => ['Alpha One', 'Beta Two'].includes(item.attributes.name),
        },
        {
          query: 'filter[permissions][update]=true',
          keeps: (item) => item.facts.permissions['can-update'] === true,
        },
        {
          query: 'filter[permissions][create-workspace]=true',
          keeps: (item) => item.facts.permissions['can-create-workspace'] === true,
        },
        { query: 'filter[tagged][0][key]=env', keeps: (item) => item.facts.bound.has('env') },
        {
          query: 'filter[tagged][1][key]=env&filter[tagged][1][value]=dev',
          keeps: (item) => item.facts.bound.get('env') === 'dev',
        },
        { query: 'filter[tagged][2][key]=tier', keeps: (item) => item.facts.bound.has('tier') },
        { query: 'sort=name', order: byName },
        { query: 'sort=-name', order: reversed(byName) },
        { query: 'include=effective_tag_bindings', include: 'effective_tag_bindings' },
      ],
    })
  }
  return listings
}

async function people(server: TestServer): Promise<Listing[]> {
  const organization = await createTestOrganization(server)
  const { client } = organization.owner
  const teams: string[] = []
  for (const [name, visibility] of [
    ['alpha-one', 'secret'],
    ['alpha-two', 'organization'],
    ['beta-one', 'organization'],
  ] as const) {
    teams.push(await createTeam(organization, { name, visibility }))
  }
  const members = [
    await addMember(server, organization, teams),
    await addMember(server, organization, teams.slice(0, 1)),
  ]
  const invited = { email: `guest-${organization.name}@example.com` }
  await invitePerson(organization, invited, teams.slice(0, 1))
  for (const team of teams.slice(0, 2)) made(await client.post(`/teams/${team}/authentication-tokens`), 201)
  const soon = body('authentication-tokens', {
    'expired-at': new Date(+server.clock.now() + 60_000).toISOString(),
  })
  made(await client.post(`/teams/${teams[1]}/authentication-tokens`, soon), 201)
  server.clock.advance(120_000)

  const teamPath = `/organizations/${organization.name}/teams`
  const membershipPath = `/organizations/${organization.name}/organization-memberships`
  const tokenPath = `/organizations/${organization.name}/team-tokens`
  const ofTeam = `/teams/${teams[0]}/relationships/organization-memberships`
  const person = async (id: string): Promise<Json> => {
    const shown = made(await client.get(`/organization-memberships/${id}?include=user`), 200).json
    return { user: shown.included[0]?.attributes }
  }
  const status = (wanted: string) => ({
    query: `filter[status]=${wanted}`,
    keeps: (item: Item) => item.attributes.status === wanted,
  })
  const include = (name: string) => ({ query: `include=${name}`, include: name })
  const oneMembership = (id: string) => `/organization-memberships/${id}`
  const email = members[0]?.email ?? ''
  const tokens = await itemsOf(client, tokenPath, async (id) => {
    const team = made(await client.get(`/authentication-tokens/${id}`), 200).json.data.relationships.team.data
      .id
    return { team: made(await client.get(`/teams/${team}`), 200).json.data.attributes.name }
  })
  const isOver = ({ attributes }: Item) =>
    attributes['expired-at'] !== null && attributes['expired-at'] <= server.clock.now().toISOString()
  const byTeam = (a: Item, b: Item) => compareBytes(a.facts.team, b.facts.team)
  return [
    {
      client,
      path: teamPath,
      items: await itemsOf(client, teamPath),
      one: (id) => `/teams/${id}`,
      choices: [
        { query: 'q=ALPHA', keeps: (item) => has(item.attributes.name, 'alpha') },
        {
          query: 'filter[names]=alpha-one,beta-one,owners',
          keeps: (item) => ['alpha-one', 'beta-one', 'owners'].includes(item.attributes.name),
        },
        include('users'),
        include('organization-memberships'),
      ],
    },
    {
      client,
      path: membershipPath,
      items: await itemsOf(client, membershipPath, person),
      one: oneMembership,
      choices: [
        {
          query: 'q=member',
          keeps: (item) => has(item.facts.user?.email, 'member') || has(item.facts.user?.username, 'member'),
        },
        {
          query: `filter[email]=${email},${invited.email}`,
          keeps: (item) => [email, invited.email].includes(item.attributes.email ?? item.facts.user?.email),
        },
        status('active'),
        status('invited'),
        include('user'),
        include('teams'),
      ],
    },
    {
      client,
      path: ofTeam,
      items: await itemsOf(client, ofTeam, person),
      one: oneMembership,
      choices: [
        status('active'),
        status('invited'),
        {
          query: 'filter[is_service_account]=true',
          keeps: (item) => item.facts.user?.['is-service-account'] === true,
        },
        {
          query: 'filter[is_service_account]=false',
          keeps: (item) => item.facts.user?.['is-service-account'] !== true,
        },
        include('user'),
      ],
    },
    {
      client,
      path: tokenPath,
      items: tokens,
      choices: [
        { query: 'q=two', keeps: (item) => has(item.facts.team, 'two') },
        { query: 'filter[expiry_status]=active', keeps: (item) => !isOver(item) },
        { query: 'filter[expiry_status]=expired', keeps: isOver },
        { query: 'sort=team-name', order: byTeam },
      ],
    },
  ]
}

async function others(server: TestServer): Promise<Listing[]> {
  const organization = await createTestOrganization(server)
  const { client } = organization.owner
  const tags = (...names: string[]) => ({
    tags: { data: names.map((name) => ({ type: 'tags', attributes: { name } })) },
  })
  const workspace = await createWorkspace(organization, {}, tags('net-a', 'net-b'))
  await createWorkspace(organization, {}, tags('net-b', 'web-a'))
  const tagPath = `/organizations/${organization.name}/tags`
  const eventPath = `/organizations/${organization.name}/audit-events`
  server.clock.advance(5_000)
  const middle = server.clock.now().toISOString()
  server.clock.advance(5_000)
  const team = await createTeam(organization)
  made(await client.patch(`/teams/${team}`, body('teams', { visibility: 'organization' })), 200)
  const member = await addMember(server, organization)
  const events = await itemsOf(client, eventPath)
  const requestId = events[0]?.attributes['request-id']
  const query = (parameter: string, value: string, attribute: string) => ({
    query: `${parameter}=${value}`,
    keeps: (item: Item) => item.attributes[attribute] === value,
  })
  const tagItems = await itemsOf(client, tagPath)
  const { username } = organization.owner
  return [
    {
      client,
      path: tagPath,
      items: tagItems,
      choices: [
        { query: 'q=NET', keeps: (item) => has(item.attributes.name, 'net') },
        {
          query: `filter[exclude][taggable][id]=${workspace}`,
          keeps: (item) => !['net-a', 'net-b'].includes(item.attributes.name),
        },
      ],
    },
    {
      client,
      path: eventPath,
      items: events,
      choices: [
        { query: `filter[since]=${middle}`, keeps: (item) => item.attributes['created-at'] >= middle },
        { query: `filter[until]=${middle}`, keeps: (item) => item.attributes['created-at'] <= middle },
        { query: `filter[actor]=${username}`, keeps: (item) => item.attributes.actor.name === username },
        { query: `filter[actor]=${member.id}`, keeps: (item) => item.attributes.actor.id === member.id },
        query('filter[action]', 'team.create', 'action'),
        query('filter[action]', 'workspace.create', 'action'),
        ...['workspaces', 'teams'].map((type) => ({
          query: `filter[resource-type]=${type}`,
          keeps: (item: Item) => item.attributes.resource.type === type,
        })),
        { query: `filter[resource-id]=${team}`, keeps: (item) => item.attributes.resource.id === team },
        query('filter[request-id]', requestId, 'request-id'),
      ],
    },
  ]
}

/** Lists with two or more parameters that are not tried here, with the reason. */
const triedElsewhere: Record<string, string> = {
  '/api/v2/organizations': 'its three searches are tried in test/organizations.test.ts',
  '/api/v2/team-workspaces': 'both of its filters name one object',
  '/api/v2/team-projects': 'both of its filters name one object',
  '/api/v2/state-versions': 'two of its filters name the workspace, so only one is left',
  '/api/v2/organizations/{organization_name}/effective-access':
    'its parameters name one subject and one place',
  '/api/v2/workspaces/{workspace_id}/access-holders':
    'test/access-holders.test.ts compares it with all users',
  '/api/v2/projects/{project_id}/access-holders': 'test/access-holders.test.ts compares it with all users',
  '/api/v2/organizations/{organization_name}/refusals': 'test/refusals.test.ts',
  '/api/v2/admin/refusals': 'test/refusals.test.ts',
}

const makers = { workspaces, projects, people, others }

onEachEngine('combinations of two parameters of a list', (server) => {
  const tried = new Set<string>()
  for (const [kind, make] of Object.entries(makers)) {
    test(`find what a slow evaluation finds: ${kind}`, { timeout: 300_000 }, async () => {
      for (const listing of await make(server)) {
        expect(listing.items.length, listing.path).toBeGreaterThan(2)
        expect(await checkPairs(listing), listing.path).toBeGreaterThan(0)
        tried.add(listing.path)
      }
    })
  }

  test('key-value tags of Terraform, sent both as filter[tagged] and as search[tags], find one set', async () => {
    const [listing] = await workspaces(server)
    const { client, path } = listing as Listing
    const found = async (query: string) => {
      const answer = made(await client.get(`${path}?${query}`), 200)
      return answer.json.data.map((each: Json) => each.attributes.name)
    }
    const tagged = 'filter[tagged][0][key]=env&filter[tagged][0][value]=dev'
    expect(await found(tagged)).toEqual(['net-b', 'web-a'])
    expect(await found(`${tagged}&search[tags]=env`)).toEqual(['net-b', 'web-a'])
    const union = `${tagged}&filter[tagged][1][key]=team&filter[tag-union]=true`
    expect(await found(union)).toEqual(['net-b', 'web-a', 'web-b', 'web-c'])
    expect(await found(`${union}&search[exclude-tags]=core`)).toEqual(['net-b', 'web-b'])
    expect(
      await found('filter[tagged][0][key]=env&filter[tag-value-default-null]=true&search[tags]=team'),
    ).toEqual(['web-b'])
  })

  test('every list with two parameters is tried here, or says where', () => {
    const text = readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8')
    const { paths, components }: Json = JSON.parse(text)
    const wanted: string[] = []
    for (const [path, { get }] of Object.entries<Json>(paths)) {
      const parameters = (get?.parameters ?? [])
        .map((each: Json) => (each.$ref ? components.parameters[each.$ref.split('/').at(-1)] : each))
        .filter((each: Json) => each.in === 'query')
      const isPaged = parameters.some(({ name }: Json) => name === 'page[number]')
      const own = parameters.filter(({ name }: Json) => !/^(page|fields)\[/.test(name))
      if (isPaged && own.length > 1) wanted.push(path)
    }
    const isTried = (path: string) => {
      const shape = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
      return [...tried].some((one) => shape.test(`/api/v2${one}`))
    }
    const missing = wanted.filter((path) => !(path in triedElsewhere) && !isTried(path))
    expect(missing).toEqual([])
  })
})
