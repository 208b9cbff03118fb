// What is measured while an organization has more objects of each kind: the routes that no other table has.
import { addTags, USED, withWhole, type Whole } from './bulk-whole.ts'
import type { Purser } from './purser.ts'
import { readsOf, sentBy, withAttributes, type Asked, type Dimension } from './scaling-asked.ts'
import { repeated, rowsOfPeople } from './scaling-rest-people.ts'
import { rowsOfPlaces } from './scaling-rest-places.ts'
import { createWorkspace, pushBody, smallState, upload } from './states.ts'

export const rest: Dimension = {
  name: 'objects of each kind',
  sizes: [100, 1_000, 10_000],
  make: async (database, size) => {
    const whole = await withWhole(database, size)
    const tagIds = await addTags(database, whole.organization, whole.workspaceIds[0] ?? '')
    return async (purser) => [
      ...rowsOfPlaces(whole, tagIds),
      ...(await rowsOfStates(purser, whole)),
      ...(await rowsOfEvents(purser, whole)),
      ...rowsOfPeople(whole),
    ]
  },
}

async function rowsOfStates(purser: Purser, { organization }: Whole): Promise<Asked[]> {
  const { token } = organization.owner
  const workspaceId = await createWorkspace(purser, organization, 'with-states')
  const ids: string[] = []
  for (let serial = 1; serial <= USED + 1; serial += 1)
    ids.push(await upload(purser, workspaceId, token, smallState(serial, 20)))
  const { data } = pushBody(smallState(USED + 2, 20))
  const attributes = { ...data.attributes, 'json-state': Buffer.from('{}').toString('base64') }
  const withJson = { data: { ...data, attributes } }
  const made = await purser.must('POST', `/workspaces/${workspaceId}/state-versions`, token, withJson)
  const current = `/state-versions/${(JSON.parse(made.text) as { data: { id: string } }).data.id}`
  const older = ids.slice(0, USED)
  const read = readsOf(token)
  const send = sentBy(token)
  const ofContent = (action: string, of = older) =>
    of.map((id) => ['POST', `/state-versions/${id}/actions/${action}_backing_data`] as const)
  const relationships = { 'rollback-state-version': { data: { type: 'state-versions', id: ids[0] } } }
  const rollback = { data: { ...withAttributes('state-versions', {}).data, relationships } }
  return [
    read('download a state', `${current}/download`),
    read('download the JSON of a state', `${current}/json-download`),
    read('previews of outputs', `${current}/output-previews`),
    read('previews of current outputs', `/workspaces/${workspaceId}/current-output-previews`),
    read('changes of outputs', `${current}/output-changes`),
    send(
      'roll back a state',
      '201',
      repeated(() => ['PATCH', `/workspaces/${workspaceId}/state-versions`, rollback]),
    ),
    send('delete the content of a state', '200', ofContent('soft_delete')),
    send('restore the content of a state', '200', ofContent('restore', older.slice(0, USED / 2))),
    send(
      'delete the content of a state for good',
      '200',
      ofContent('permanently_delete', older.slice(USED / 2)),
    ),
  ]
}

async function rowsOfEvents(purser: Purser, { organization, admin }: Whole): Promise<Asked[]> {
  const { owner, name } = organization
  const body = withAttributes('authentication-tokens', {})
  const path = `/organizations/${name}/authentication-token?token=audit-trails`
  const made = await purser.must('POST', path, owner.token, body)
  const { attributes } = (JSON.parse(made.text) as { data: { attributes: { token: string } } }).data
  return [
    readsOf(owner.token)('refusals', `/organizations/${name}/refusals`),
    readsOf(admin.token)('refusals of the site', '/admin/refusals'),
    readsOf(attributes.token)('audit trail', '/organization/audit-trail'),
  ]
}
