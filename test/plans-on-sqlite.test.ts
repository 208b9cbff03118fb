import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteFile } from '../src/database/open.ts'
import { startServer } from './support/server.ts'
import { Statements } from './support/statements.ts'
import { addMember, createTeam, createTestOrganization } from './support/world.ts'

// SQLite has no statistics of the tables, so it may take the index of an organization for one with few rows.
test('teams that are included are looked up by their ids, not among all of the organization', async () => {
  const server = await startServer('sqlite')
  onTestFinished(() => server.stop())
  const statements = new Statements('sqlite')
  onTestFinished(() => statements.stop())
  const organization = await createTestOrganization(server)
  // For a few ids SQLite looks them up in any case.
  const teamIds = await Promise.all(Array.from({ length: 50 }, () => createTeam(organization)))
  const { membershipId } = await addMember(server, organization, teamIds)
  const ran = await statements.of(() =>
    organization.owner.client.get(`/organization-memberships/${membershipId}?include=teams`),
  )
  statements.stop()
  const ofTeams = ran.filter((sql) => sql.startsWith('select * from "teams"'))
  expect(ofTeams).toHaveLength(1)
  const database = new DatabaseSync(sqliteFile(server.folder), { readOnly: true })
  const steps = database.prepare(`explain query plan ${ofTeams[0]}`).all()
  database.close()
  expect(steps.map(({ detail }) => detail)).toEqual([expect.stringMatching(/^SEARCH teams .*\(id=\?\)$/)])
})

test('a page of all users is read in their order from an index', async () => {
  const server = await startServer('sqlite')
  onTestFinished(() => server.stop())
  const statements = new Statements('sqlite')
  onTestFinished(() => statements.stop())
  const ran = await statements.of(() => server.admin.get('/admin/users'))
  statements.stop()
  const ofUsers = ran.filter((sql) => /^select .* from "users" where "is_service_account"/.test(sql))
  expect(ofUsers).toHaveLength(2)
  const database = new DatabaseSync(sqliteFile(server.folder), { readOnly: true })
  const steps = ofUsers.flatMap((sql) => database.prepare(`explain query plan ${sql}`).all())
  database.close()
  const search = expect.stringMatching(/^SEARCH users USING (COVERING )?INDEX users_listed /)
  expect(steps.map(({ detail }) => detail)).toEqual([search, search])
})
