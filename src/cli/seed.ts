import { existing } from '../core/existing.ts'
import { parseStored } from '../core/stored-json.ts'
import { existsSync } from 'node:fs'
import { createApp } from '../app.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Transaction } from '../database/database.ts'
import { sqliteFile } from '../database/open.ts'
import { sendRequest } from '../import/own-server.ts'
import { findOrganizationByName } from '../organizations/organization-store.ts'
import { advisedCommand } from '../operation/advised-command.ts'
import { lockDataFolder, makeDataFolder } from '../operation/data-folder.ts'
import { createLog } from '../operation/log.ts'
import { deleteMeta, findMeta, noteMeta } from '../database/meta-store.ts'
import { openPrepared, prepare } from '../operation/prepare.ts'
import { findUserByUsername } from '../users/user-store.ts'
import { keyOf } from '../users/users.ts'
import { operatorDeps, writeDatabase } from '../operation/command-database.ts'
import { demo, stateAttributes } from './demo.ts'
import { createOrganization } from './organizations.ts'
import { createTokenFor, createUser } from './users.ts'

type Seeded = { organization: string; people: { username: string; role: string; token: string }[] }

/** In the database while a seed makes the organization. */
const UNFINISHED = 'unfinished demo'
const OWNER = demo.people[0].username

const emailOf = (username: string) => `${username}@demo.example`

/** Creates the demo organization, with requests of its people over HTTP. Undefined if it already exists. */
export async function seed(config: Config): Promise<Seeded | undefined> {
  await prepareForSeed(config)
  // Before anything is created, so that a refusal leaves nothing behind.
  const there = await writeDatabase(config, async (tx) => {
    if (await isSeeded(tx, config)) return undefined
    const people = await peopleThere(tx)
    await noteMeta(tx, UNFINISHED, demo.organization)
    return people
  })
  if (there === undefined) return undefined
  const people = []
  for (const { username, role } of demo.people) {
    const user = { username, email: emailOf(username), isAdmin: false, withToken: true }
    const { token } = there.has(username)
      ? await createTokenFor(config, username, {})
      : await createUser(config, user)
    people.push({ username, role, token: existing(token) })
  }
  const organization = { name: demo.organization, email: 'demo@demo.example', owner: OWNER }
  await createOrganization(config, organization)
  await seedOverHttp(config, new Map(people.map(({ username, token }) => [username, token])))
  return { organization: demo.organization, people }
}

/** Throws if an interrupted seed has left an organization without all of its content. */
async function isSeeded(tx: Transaction, config: Config): Promise<boolean> {
  if ((await findOrganizationByName(tx, demo.organization)) === undefined) return false
  if ((await findMeta(tx, UNFINISHED)) === undefined) return true
  throw new OperatorError(
    `the organization ${demo.organization} has only a part of the demo data, because an earlier seed was interrupted: delete it with ${advisedCommand(config, `organization delete ${demo.organization} --yes`)}, and run seed again`,
  )
}

/** Which of the people exist already: an interrupted seed, or a deleted demo, has left them. */
async function peopleThere(tx: Transaction): Promise<Set<string>> {
  const there = new Set<string>()
  const others: string[] = []
  for (const { username } of demo.people) {
    const user = await findUserByUsername(tx, keyOf(username))
    if (user?.email === emailOf(username)) there.add(username)
    else if (user !== undefined) others.push(username)
  }
  if (others.length === 0) return there
  throw new OperatorError(
    `there are users ${others.join(', ')} already, and the demo data needs these names: use a separate data folder, with --data`,
  )
}

/** Creates the database if there is none. If a server is running on it, there is nothing to prepare. */
async function prepareForSeed(config: Config): Promise<void> {
  const isNew = config.databaseUrl === undefined && !existsSync(sqliteFile(config.data))
  if (isNew || config.databaseUrl !== undefined) makeDataFolder(config.data)
  using _ = isNew ? lockDataFolder(config.data) : undefined
  const { database } = await prepare(config, { clock: operatorDeps.clock, say: () => {} })
  await database.close()
}

type Post = (username: string, path: string, data?: object) => Promise<{ id: string }>

async function seedOverHttp(settings: Config, tokens: Map<string, string>): Promise<void> {
  const { config, database } = await openPrepared(settings)
  const log = createLog('error')
  const app = createApp({ ...config, tlsCert: undefined, tlsKey: undefined }, database, log)
  try {
    const address = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`
    const as = (username: string) => ({ address, token: existing(tokens.get(username)) })
    const post: Post = async (username, path, data) => {
      const body = data === undefined ? undefined : JSON.stringify({ data })
      const { status, text } = await sendRequest(as(username), 'POST', path, body)
      if (status >= 300) throw new OperatorError(`${path} was answered with ${status}: ${text}`)
      return parseStored<{ data: { id: string } }>(text).data
    }
    const teams = await makeTeams(post)
    await makeMembers(post, teams)
    await makeWorkspaces(post, teams, await makeProject(post, teams))
    // Dora asks for a workspace and is refused, so the list of refusals has an example.
    await sendRequest(as('dora'), 'GET', `${ORGANIZATION}/workspaces/${demo.grant.workspace}`)
    await database.write((tx) => deleteMeta(tx, UNFINISHED))
  } finally {
    await app.close()
  }
}

const ORGANIZATION = `/organizations/${demo.organization}`

async function makeTeams(post: Post): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for (const { name, visibility, flags } of demo.teams) {
    const attributes = { name, visibility, 'organization-access': flags }
    const { id } = await post(OWNER, `${ORGANIZATION}/teams`, { type: 'teams', attributes })
    ids.set(name, id)
  }
  return ids
}

async function makeMembers(post: Post, teams: Map<string, string>): Promise<void> {
  for (const { username } of demo.people.slice(1)) {
    const own = demo.teams.filter(({ members }) => (members as readonly string[]).includes(username))
    const data = own.map(({ name }) => ({ type: 'teams', id: teams.get(name) }))
    const { id } = await post(OWNER, `${ORGANIZATION}/organization-memberships`, {
      type: 'organization-memberships',
      attributes: { email: emailOf(username) },
      relationships: { teams: { data } },
    })
    await post(username, `/organization-memberships/${id}/actions/accept`)
  }
  await post(OWNER, `${ORGANIZATION}/organization-memberships`, {
    type: 'organization-memberships',
    attributes: { email: demo.invited },
  })
}

const to = (type: 'teams' | 'projects' | 'workspaces', id: string | undefined) => ({ data: { type, id } })

/** Returns the id of the project. */
async function makeProject(post: Post, teams: Map<string, string>): Promise<string> {
  const { grant, ...attributes } = demo.project
  const { team, ...given } = grant
  const { id } = await post(OWNER, `${ORGANIZATION}/projects`, { type: 'projects', attributes })
  await post(OWNER, '/team-projects', {
    type: 'team-projects',
    attributes: given,
    relationships: { team: to('teams', teams.get(team)), project: to('projects', id) },
  })
  return id
}

async function makeWorkspaces(post: Post, teams: Map<string, string>, projectId: string): Promise<void> {
  const { team, workspace: granted, ...attributes } = demo.grant
  for (const { name, description, project, history } of demo.workspaces) {
    const { id } = await post('ben', `${ORGANIZATION}/workspaces`, {
      type: 'workspaces',
      attributes: { name, description },
      relationships: project && { project: to('projects', projectId) },
    })
    await post('ben', `/workspaces/${id}/actions/lock`, {})
    for (const [place, outputs] of history.entries()) {
      await post('ben', `/workspaces/${id}/state-versions`, {
        type: 'state-versions',
        attributes: stateAttributes(outputs, place + 1),
      })
    }
    await post('ben', `/workspaces/${id}/actions/unlock`)
    if (name !== granted) continue
    await post(OWNER, '/team-workspaces', {
      type: 'team-workspaces',
      attributes,
      relationships: { team: to('teams', teams.get(team)), workspace: to('workspaces', id) },
    })
  }
}
