// Somebody who hands out a token or a link, and then loses their rights, gets them back with it.
import { addMember, createTestOrganization, createUser } from '../test/support/world.ts'
import { Visitor, type Attack } from './stage.ts'

export const attack: Attack = async (server, show) => {
  const { admin } = server
  for (const end of ['actions/revoke_admin', 'actions/suspend', '']) {
    const thief = await createUser(server)
    const colleague = await createUser(server)
    for (const { id } of [thief, colleague]) await admin.post(`/admin/users/${id}/actions/grant_admin`)
    const made = await thief.client.post(`/users/${colleague.id}/authentication-tokens`, {
      data: { type: 'authentication-tokens', attributes: { description: 'for my colleague' } },
    })
    const link = await thief.client.post(`/admin/users/${colleague.id}/password-links`)
    const { id } = thief
    const ended = await admin.request(
      end === '' ? 'DELETE' : 'POST',
      `/admin/users/${id}/${end}`.replace(/\/$/, ''),
    )
    const by = end === '' ? 'deleted' : end.replace('actions/', '')
    if (ended.status >= 300) throw new Error(ended.text)
    const lent = server.client(made.json.data.attributes.token)
    show(`${by}: all users, with the token for the colleague`, 200, (await lent.get('/admin/users')).status)
    const visitor = new Visitor(server)
    const signIn = await visitor.signIn({
      link: link.json.data.attributes.link,
      password: 'a password of the thief',
    })
    show(`${by}: a sign-in as the colleague, with the link`, 201, signIn.status)
  }

  const organization = await createTestOrganization(server)
  const { owner } = organization
  const path = `/organizations/${organization.name}`
  const teams = await owner.client.get(`${path}/teams`)
  const owners = teams.json.data.find(
    (team: { attributes: { name: string } }) => team.attributes.name === 'owners',
  )
  const token = await owner.client.post(`/teams/${owners.id}/authentication-token`)
  const list = await admin.get(`${path}/organization-memberships?q=${owner.username}`)
  const membership = `/organization-memberships/${list.json.data[0].id}`
  await addMember(server, organization, [owners.id])
  const preview = await admin.delete(`${membership}?dry-run=true`)
  const named = preview.json.data?.attributes.tokens?.length ?? 'none'
  show('removed owner: team tokens that the dry run of the removal names', 'none', named)
  const removal = await admin.delete(`${membership}?end-tokens=true`)
  if (removal.status >= 300) throw new Error(removal.text)
  const back = server.client(token.json.data.attributes.token)
  show('removed owner: the organization, with the token of the owners', 200, (await back.get(path)).status)
}
