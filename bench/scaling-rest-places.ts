// The routes of workspaces, projects and access that no other table has.
import { filtered, readAccess, readsOf, sentBy, withAttributes, type Asked } from './scaling-asked.ts'
import { USED, type Whole } from './bulk-whole.ts'
import { each, identified, repeated } from './scaling-rest-people.ts'
import { teamName } from './seed.ts'

const bindings = (n: number) => ({
  data: [{ type: 'tag-bindings', attributes: { key: `key-${n % 5}`, value: `value-${n}` } }],
})

export function rowsOfPlaces(whole: Whole, tagIds: readonly string[]): Asked[] {
  const { organization, workspaceIds, projectIds } = whole
  const { owner, name } = organization
  const own = `/organizations/${name}`
  const read = readsOf(owner.token)
  const send = sentBy(owner.token)
  const workspace = `/workspaces/${workspaceIds.at(-1)}`
  const byName = (number: number) => `${own}/workspaces/${teamName(number)}`
  const rest = workspaceIds.slice(USED)
  const consumers = `${workspace}/relationships/remote-state-consumers`
  return [
    send(
      'change a workspace by its name',
      '200',
      repeated((n) => [
        'PATCH',
        byName(3 * USED),
        withAttributes('workspaces', { description: `changed ${n}` }),
      ]),
    ),
    send(
      'lock a workspace by its name',
      '200',
      repeated((n) => ['POST', `${byName(3 * USED - n)}/actions/lock`]),
    ),
    send(
      'force-unlock a workspace',
      '200',
      repeated((n) => ['POST', `/workspaces/${workspaceIds[3 * USED - n]}/actions/force-unlock`]),
    ),
    send(
      'add a tag to a workspace',
      '204',
      repeated((n) => ['POST', `${workspace}/relationships/tags`, tag(n)]),
    ),
    send(
      'remove a tag of a workspace',
      '204',
      repeated((n) => ['DELETE', `${workspace}/relationships/tags`, tag(n)]),
    ),
    send(
      'give a tag to workspaces',
      '204',
      each(tagIds, (id) => [
        'POST',
        `/tags/${id}/relationships/workspaces`,
        identified('workspaces', [workspaceIds.at(-1) ?? '']),
      ]),
    ),
    send(
      'delete a tag',
      '204',
      each(tagIds, (id) => ['DELETE', `${own}/tags`, identified('tags', [id])]),
    ),
    ...(['POST', 'PATCH', 'DELETE'] as const).map((method) =>
      send(
        `consumers of a state, ${method}`,
        '204',
        each(rest, (id) => [method, consumers, identified('workspaces', [id])]),
      ),
    ),
    send(
      'move a workspace',
      '204',
      each(rest, (id, n) => [
        'POST',
        `/projects/${n % 2 === 0 ? projectIds[0] : projectIds[1]}/relationships/workspaces`,
        identified('workspaces', [id]),
      ]),
    ),
    send(
      'delete a workspace by its name',
      '204',
      repeated((n) => ['DELETE', byName(n)]),
    ),
    send(
      'delete a workspace without resources',
      '204',
      each(rest, (id) => ['POST', `/workspaces/${id}/actions/safe-delete`]),
    ),
    send(
      'the same by its name',
      '204',
      repeated((n) => ['POST', `${byName(2 * USED + n)}/actions/safe-delete`]),
    ),
    ...rowsOfBindings('workspace', workspace, owner.token),
    ...rowsOfBindings('project', `/projects/${projectIds[0]}`, owner.token),
    read('effective tag bindings of a project', `/projects/${projectIds[0]}/effective-tag-bindings`),
    ...rowsOfAccess(whole),
  ]
}

const tag = (n: number) => ({ data: [{ type: 'tags', attributes: { name: `new-${n}` } }] })

function rowsOfBindings(kind: string, path: string, token: string): Asked[] {
  const read = readsOf(token)
  const send = sentBy(token)
  const related = `${path}/relationships/tag-bindings`
  return [
    send(
      `change tag bindings of a ${kind}`,
      '200',
      repeated((n) => ['PATCH', `${path}/tag-bindings`, bindings(n)]),
    ),
    send(
      `the same by the relationship, ${kind}`,
      '204',
      repeated((n) => ['PATCH', related, bindings(n)]),
    ),
    send(
      `add tag bindings to a ${kind}`,
      '204',
      repeated((n) => ['POST', related, bindings(n)]),
    ),
    read(`tag bindings of a ${kind}`, `${path}/tag-bindings`),
    read(`the relationship of tag bindings, ${kind}`, related),
  ]
}

function rowsOfAccess({ organization, crowdedTeamId, workspaceIds, projectIds, ...whole }: Whole): Asked[] {
  const read = readsOf(organization.owner.token)
  const send = sentBy(organization.owner.token)
  const rows = (
    kind: 'workspace' | 'project',
    grantIds: readonly string[],
    placeId: string | undefined,
  ): Asked[] => {
    const path = `/team-${kind}s`
    const last = `${path}/${grantIds.at(-1)}`
    const level = (n: number) => withAttributes(`team-${kind}s`, { access: n % 2 === 0 ? 'write' : 'read' })
    return [
      read(`list of grants on a ${kind}`, filtered(path, `filter[${kind}][id]`, placeId ?? '')),
      read(`a grant on a ${kind}`, last),
      send(
        `change a grant on a ${kind}`,
        '200',
        repeated((n) => ['PATCH', last, level(n)]),
      ),
      send(
        `delete a grant on a ${kind}`,
        '204',
        each(grantIds.slice(-USED - 1), (id) => ['DELETE', `${path}/${id}`]),
      ),
    ]
  }
  return [
    ...rows('workspace', whole.workspaceGrantIds, workspaceIds.at(-1)),
    send(
      'give a team access to a project',
      '201',
      each(projectIds, (id) => ['POST', '/team-projects', readAccess('project', id, crowdedTeamId)]),
    ),
    ...rows('project', whole.projectGrantIds, projectIds.at(-1)),
  ]
}
