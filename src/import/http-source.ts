import { memberOf } from '../core/json-object.ts'
import { OperatorError } from '../core/operator-error.ts'
import {
  organizationAttributes,
  projectAttributes,
  teamAttributes,
  workspaceAttributes,
} from './copied-attributes.ts'
import {
  checkedRecord,
  Unreadable,
  type OrganizationRecord,
  type RecordKind,
  type Records,
  type StateChoice,
  type StateRecord,
  type TeamRecord,
  type WorkspaceRecord,
} from './records.ts'
import type { SourceClient } from './source-client.ts'
import { readList, relatedId, relatedIds, resourceOf, type List, type Resource } from './source-lists.ts'
import type { Reading, Sink, Source } from './source.ts'
import {
  accessKinds,
  consumersPath,
  tagBindingsOf,
  tokenLifetimesOf,
  tokenLifetimesPath,
  withTagBindings,
  type AccessKind,
} from './both-sides.ts'

const inPath = encodeURIComponent

/** Another server with this interface. It shows only what the token may see. `Source` has the types of the results. */
export class HttpSource implements Source {
  readonly name: string
  readonly identity: string
  readonly #client: SourceClient

  constructor(client: SourceClient, name = client.origin) {
    this.name = name
    this.identity = client.origin
    this.#client = client
  }

  async organizations(names: readonly string[]) {
    const found: Resource[] = []
    if (names.length === 0) found.push(...(await readList(this.#client, '/organizations')).data)
    for (const name of names) found.push(await this.#organization(name))
    const records: OrganizationRecord[] = []
    for (const resource of found) {
      const { name } = resource.attributes
      const record = checkedRecord('organizations', {
        name,
        isWhole: isOwners(resource),
        defaultProjectId: relatedId(resource, 'default-project'),
        attributes: organizationAttributes(resource.attributes),
        tokenLifetimes: null,
      })
      records.push({ ...record, tokenLifetimes: await this.#tokenLifetimes(record.name) })
    }
    return records
  }

  async #tokenLifetimes(organization: string): Promise<Record<string, number> | null> {
    try {
      return tokenLifetimesOf(await readList(this.#client, tokenLifetimesPath(organization)))
    } catch (error) {
      // Hidden from this token or unknown to the server. It matters only if lifetimes are limited.
      if (!(error instanceof Unreadable)) throw error
      return null
    }
  }

  async #organization(name: string): Promise<Resource> {
    try {
      const found = resourceOf(await this.#client.document(`/organizations/${inPath(name)}`))
      // Else the source could choose which organization here gets its members.
      if (isNamed(found, name)) return found
      throw new Unreadable('it was answered with another organization')
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      throw new OperatorError(`organization ${name} of ${this.name}: ${error.message}`)
    }
  }

  async projects(organization: string, reading: Reading) {
    const list = await this.#tagged(`/organizations/${inPath(organization)}/projects`, reading)
    return recordsOf('projects', list.data, reading, (resource) => ({
      name: resource.attributes.name,
      attributes: projectAttributes(resource.attributes),
      tagBindings: tagBindingsOf(resource, list),
    }))
  }

  /** A list with the tag bindings of its items, or without them if they cannot be read. */
  async #tagged(path: string, reading: Reading): Promise<List> {
    try {
      return await readList(this.#client, path, withTagBindings)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      const list = await readList(this.#client, path)
      reading.unreadable('tag bindings of all', error.message)
      return list
    }
  }

  async teams(organization: string, reading: Reading) {
    const { data } = await readList(this.#client, `/organizations/${inPath(organization)}/teams`)
    let done = 0
    return recordsOf('teams', data, reading, async ({ id }) => {
      // A list shows only some of the flags, so read each team.
      const document = this.#client.document(`/teams/${inPath(id)}`)
      const whole = await document.finally(() => reading.step((done += 1), data.length))
      const { attributes } = resourceOf(whole)
      return { name: attributes.name, attributes: teamAttributes(attributes) }
    })
  }

  async workspaces(organization: string, reading: Reading) {
    const list = await this.#tagged(`/organizations/${inPath(organization)}/workspaces`, reading)
    return recordsOf('workspaces', list.data, reading, (resource) => {
      const { attributes } = resource
      return {
        name: attributes.name,
        projectId: relatedId(resource, 'project'),
        tagNames: Array.isArray(attributes['tag-names']) ? attributes['tag-names'] : [],
        tagBindings: tagBindingsOf(resource, list),
        isLocked: attributes.locked === true,
        attributes: workspaceAttributes(attributes),
      }
    })
  }

  async members(organization: string, reading: Reading) {
    const path = `/organizations/${inPath(organization)}/organization-memberships`
    const { data, included } = await readList(this.#client, path, { include: 'user' })
    const userOf = (resource: Resource) => included.get(relatedId(resource, 'user') ?? '')
    const people = data.filter((one) => userOf(one)?.attributes['is-service-account'] !== true)
    return recordsOf('members', people, reading, (resource) => {
      const { attributes } = resource
      const user = userOf(resource)
      return {
        email: attributes.email ?? user?.attributes.email ?? null,
        username: user?.attributes.username ?? null,
        status: attributes.status,
        teamIds: relatedIds(resource, 'teams'),
      }
    })
  }

  async access(kind: AccessKind, _organization: string, placeId: string) {
    const { relation, copied } = accessKinds[kind]
    const { data } = await readList(this.#client, `/${kind}`, { [`filter[${relation}][id]`]: placeId })
    return data.map((resource) =>
      checkedRecord(kind, {
        placeId,
        teamId: relatedId(resource, 'team'),
        attributes: copied(resource.attributes),
      }),
    )
  }

  async consumers(_organization: string, { id }: WorkspaceRecord) {
    const { data } = await readList(this.#client, consumersPath(id))
    const consumerIds = data.map((consumer) => consumer.id)
    return consumerIds.length === 0
      ? []
      : [checkedRecord('remote-state-consumers', { placeId: id, consumerIds })]
  }

  async tokens(organization: string, teams: readonly TeamRecord[]) {
    const names = new Map(teams.map(({ id, name }) => [id, name]))
    const path = `/organizations/${inPath(organization)}`
    const { data } = await readList(this.#client, `${path}/team-tokens`)
    const records = data.map((token) => {
      const description = token.attributes.description
      const name = typeof description === 'string' ? ` "${description}"` : ''
      return {
        description: `a token${name} of the team ${names.get(relatedId(token, 'team') ?? '') ?? 'with another name'}`,
      }
    })
    const own = { 'the token of the organization': {}, 'its audit-trails token': { token: 'audit-trails' } }
    for (const [description, query] of Object.entries(own)) {
      try {
        await this.#client.document(`${path}/authentication-token`, query)
        records.push({ description })
      } catch (error) {
        // There is no token, or this caller may not see it.
        if (!(error instanceof Unreadable)) throw error
      }
    }
    return records.map((record) => checkedRecord('tokens', record))
  }

  async states(organization: string, workspace: WorkspaceRecord, which: StateChoice) {
    if (which === 'none') return []
    const { data } = await readList(this.#client, '/state-versions', {
      'filter[organization][name]': organization,
      'filter[workspace][name]': workspace.name,
      'filter[status]': 'finalized',
    })
    const records = data
      .filter(({ attributes }) => attributes.status === undefined || attributes.status === 'finalized')
      .map(({ id, attributes }) => {
        const state = attributes['hosted-state-download-url'] ?? null
        const jsonState = attributes['hosted-json-state-download-url'] ?? null
        return checkedRecord('state-versions', {
          id,
          workspaceId: workspace.id,
          serial: attributes.serial,
          size: attributes.size ?? null,
          md5: attributes.md5 ?? null,
          isSnapshot: attributes.intermediate === true,
          hasJson: jsonState !== null,
          state,
          jsonState,
        })
      })
    return records.toReversed()
  }

  content(record: StateRecord, kind: 'state' | 'jsonState', limit: number, sink: Sink): Promise<void> {
    const address = record[kind]
    if (address === null) throw new Unreadable('its content is hidden from this token, or gone')
    return this.#client.content(address, limit, sink)
  }
}

/** Whether the caller is an owner: only owners may delete an organization, and nothing is hidden from them. */
function isOwners({ attributes }: Resource): boolean {
  return memberOf(attributes.permissions, 'can-destroy') === true
}

/** The records of a list. Items that cannot be a record are reported and left out. */
async function recordsOf<K extends RecordKind>(
  kind: K,
  data: readonly Resource[],
  reading: Reading,
  membersOf: (resource: Resource) => object | Promise<object>,
): Promise<Records[K][]> {
  const records: Records[K][] = []
  for (const resource of data) {
    try {
      records.push(checkedRecord(kind, { id: resource.id, ...(await membersOf(resource)) }))
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      reading.unreadable(nameOf(resource), error.message)
    }
  }
  return records
}

/** Upper and lower case may be the same on the source. */
function isNamed({ attributes }: Resource, name: string): boolean {
  return typeof attributes.name === 'string' && attributes.name.toLowerCase() === name.toLowerCase()
}

function nameOf({ id, attributes }: Resource): string {
  return typeof attributes.name === 'string' ? attributes.name : id
}
