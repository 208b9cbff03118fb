// The access of a user in many teams to very many workspaces, and its sources.
import { existing } from '../src/core/existing.ts'
import { systemClock, timestamp } from '../src/core/clock.ts'
import { newId } from '../src/core/ids.ts'
import type { Transaction } from '../src/database/database.ts'
import { openDatabase } from '../src/database/open.ts'
import { accessOfHolders } from '../src/effective-access/effective-access.ts'
import { placeOf } from '../src/effective-access/places.ts'
import { findSubject } from '../src/effective-access/subjects.ts'
import { insertMembership } from '../src/organization-memberships/membership-store.ts'
import {
  bumpVersion,
  findOrganization,
  type OrganizationRow,
} from '../src/organizations/organization-store.ts'
import { createOrganization } from '../src/organization-founding/create-organization.ts'
import { insertProject } from '../src/projects/project-store.ts'
import { changeProjectGrant } from '../src/team-access/project-levels.ts'
import { teamProjectStore, toColumns as ofProject } from '../src/team-access/team-project-store.ts'
import { teamWorkspaceStore, toColumns as ofWorkspace } from '../src/team-access/team-workspace-store.ts'
import { changeWorkspaceGrant } from '../src/team-access/workspace-levels.ts'
import { inForceOf } from '../src/teams/team-fields.ts'
import { insertTeamMember } from '../src/teams/team-member-store.ts'
import { insertTeam } from '../src/teams/team-store.ts'
import { listVisibleWorkspaces } from '../src/workspaces/workspace-list-store.ts'
import { insertWorkspace } from '../src/workspaces/workspace-store.ts'
import { median, thousands, type Bench, type Figure, type Row } from './bench.ts'
import { configOf } from './engine.ts'
import { wire } from './purser.ts'
import { createPerson, type Person } from './seed.ts'

const TEAMS = 50
const WORKSPACES = 10_000
const PROJECTS = 20
const ROUNDS = 30
const PAGE = 100
const MOST_MS = 50
const LISTING_CLIENTS = 4
const DURATION_MS = 4_000
const QUICK_MS = 1_500

type Asked = { name: string; owner: Person; member: Person; organizationId: string }

/**
 * An organization of 10,000 workspaces in 20 projects. Each workspace has a grant for one of the member's teams, and
 * each project has grants for two.
 */
async function seedAccess(tx: Transaction): Promise<Asked> {
  const at = timestamp(systemClock.now())
  const name = `access-${process.pid}`
  const owner = await createPerson(tx, `${name}-owner`)
  const member = await createPerson(tx, `${name}-member`)
  const email = 'bench@example.com'
  const made = await createOrganization(tx, newId, { name, email, settings: {}, ownerId: owner.id, at })
  if (made === undefined) throw new Error(`${name} is there already`)
  const of = { organization_id: made.id, created_at: at }
  const membershipId = newId('membership')
  await insertMembership(tx, { ...of, id: membershipId, user_id: member.id, status: 'active' })
  const teams: string[] = []
  for (let number = 0; number < TEAMS; number += 1) {
    const id = newId('team')
    teams.push(id)
    const team = { visibility: 'secret', organization_access: 0, allow_member_token_management: 1 } as const
    await insertTeam(tx, { ...of, ...team, id, name: `team-${number}`, updated_at: at })
    await insertTeamMember(tx, {
      team_id: id,
      membership_id: membershipId,
      user_id: member.id,
      organization_id: made.id,
      is_active: 1,
    })
  }
  const team = (number: number) => teams[number % TEAMS] as string
  const projects: string[] = []
  for (let number = 0; number < PROJECTS; number += 1) {
    const id = newId('project')
    projects.push(id)
    const project = { name: `project-${number}`, description: null, settings: '{}', updated_at: at }
    await insertProject(tx, { ...of, ...project, id })
    for (const place of [2 * number, 2 * number + 1]) {
      const grant = changeProjectGrant(undefined, {
        access: 'custom',
        project: {},
        workspace: { locking: true },
      })
      const row = { id: newId('teamProject'), team_id: team(place), project_id: id, ...ofProject(grant) }
      await teamProjectStore.insert(tx, { ...of, ...row })
    }
  }
  const levels = ['read', 'plan', 'write', 'admin'] as const
  for (let number = 0; number < WORKSPACES; number += 1) {
    const id = newId('workspace')
    await insertWorkspace(tx, {
      ...of,
      id,
      project_id: projects[number % PROJECTS] as string,
      name: `workspace-${String(number).padStart(5, '0')}`,
      terraform_version: 'latest',
      settings: '{}',
      updated_at: at,
    })
    const access = levels[number % levels.length] ?? 'read'
    const grant = ofWorkspace(changeWorkspaceGrant(undefined, { access, details: {} }))
    const row = { id: newId('teamWorkspace'), team_id: team(number), workspace_id: id, ...grant }
    await teamWorkspaceStore.insert(tx, { ...of, ...row })
  }
  await bumpVersion(tx, made.id, TEAMS)
  return { name, owner, member, organizationId: made.id }
}

const WHAT = `effective access of a user in ${TEAMS} teams on ${WORKSPACES.toLocaleString('en')} workspaces`

async function measure(bench: Bench) {
  const config = configOf(bench.engine, bench.world.folder)
  const { database } = await openDatabase(config)
  try {
    // Opened while the server is running, as the command line does.
    const { name, owner, member, organizationId } = await database.write(seedAccess)
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      times.push(
        await database.read(async (tx) => {
          const organization = (await findOrganization(tx, organizationId)) as OrganizationRow
          const page = { number: 1, size: WORKSPACES }
          const { workspaces } = await listVisibleWorkspaces(tx, organizationId, 'everything', {}, page)
          const places = workspaces.map(placeOf)
          const start = performance.now()
          const caller = { isSiteAdmin: false, userId: owner.id }
          const subject = await findSubject(tx, organizationId, { user: member.id }, caller)
          if (subject === undefined) throw new Error('the member is missing')
          const about = { holder: await subject.holder(tx), organization, inForce: inForceOf(config) }
          const found = await accessOfHolders(tx, [about.holder], about, places)
          const time = performance.now() - start
          if (found.length !== WORKSPACES || found.some(({ sources }) => sources.length < 3)) {
            throw new Error(`${found.length} were found, or not all of what adds up`)
          }
          return time
        }),
      )
      // A read transaction lives for one turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve))
    }
    const path = `/organizations/${name}/effective-access?user=${member.id}&page%5Bsize%5D=${PAGE}&page%5Bnumber%5D=`
    const requests = [1, WORKSPACES / PAGE / 2, WORKSPACES / PAGE].map((number) =>
      wire('GET', path + number, owner.token),
    )
    await bench.run({ requests, connections: 1, count: 30 })
    const { latencies } = await bench.run({ requests, connections: 1, count: bench.isQuick ? 100 : 600 })
    const [{ p50, p99 } = { p50: Number.NaN, p99: Number.NaN }] = latencies
    const beside = await besideLists(bench, name, member)
    const sorted = times.slice(ROUNDS / 3)
    return {
      figures: [
        {
          what: `${WHAT}: all of them at once, in the process`,
          value: median(sorted),
          unit: 'ms',
          atLeast: MOST_MS,
          better: 'less' as const,
          details: `from ${Math.min(...sorted).toFixed(1)} to ${Math.max(...sorted).toFixed(1)} ms`,
        },
        {
          what: `${WHAT}: a page of ${PAGE} over HTTP, 99th percentile`,
          value: p99,
          unit: 'ms',
          atLeast: MOST_MS,
          better: 'less' as const,
          details: `median ${p50.toFixed(1)} ms; first, middle and last page`,
        },
        beside,
      ],
    }
  } finally {
    await database.close()
  }
}

/** Shows a team of another organization while the member lists what they see, which has to be counted and sorted. */
async function besideLists(bench: Bench, name: string, member: Person): Promise<Figure> {
  const list = wire('GET', `/organizations/${name}/workspaces?sort=-name`, member.token)
  const { large } = bench.world
  const team = wire('GET', `/teams/${large.teams[1]?.id}`, large.owner.token)
  const listing = bench.run({ requests: [list], connections: LISTING_CLIENTS })
  const durationMs = bench.isQuick ? QUICK_MS : DURATION_MS
  const { latencies, answers, seconds } = await bench.run({ requests: [team], durationMs })
  await bench.stopLoad()
  const lists = await listing
  const { p50, p99, max } = existing(latencies[0])
  return {
    what: `show a team, beside ${LISTING_CLIENTS} clients that list ${WORKSPACES.toLocaleString('en')} workspaces of another organization: p99`,
    value: p99,
    unit: 'ms',
    atLeast: 20,
    aim: 5,
    better: 'less',
    details: `${thousands(answers / seconds)}/s, median ${p50.toFixed(2)} ms, longest ${max.toFixed(1)} ms; ${Math.round(lists.answers / lists.seconds)} lists a second`,
  }
}

export const accessRows: Row[] = [{ id: 'effective-access', what: WHAT, run: measure }]
