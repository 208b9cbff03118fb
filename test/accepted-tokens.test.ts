import { beforeAll, expect, test } from 'vitest'
import type { Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  createTeamToken,
  dataOf,
  HOUR_MS,
  MINUTE_MS,
  statusOf,
  TWO_YEARS_MS,
} from './support/organization-tokens.ts'
import { addMember, createTeam, createTestOrganization, type Member } from './support/world.ts'

type Case = { hasUserTokens: boolean; hasMaximum: boolean; maximumMs: number | null; ageMs: number }

/** Each combination of rules of an organization and an age: new, or a minute from the limit. */
const cases: Case[] = [true, false].flatMap((hasUserTokens) =>
  [true, false].flatMap((hasMaximum) =>
    [null, HOUR_MS].flatMap((maximumMs) => {
      const limit = maximumMs ?? TWO_YEARS_MS
      const ages = [0, limit - MINUTE_MS, limit + MINUTE_MS]
      return ages.map((ageMs) => ({ hasUserTokens, hasMaximum, maximumMs, ageMs }))
    }),
  ),
)

const isYoung = ({ hasMaximum, maximumMs, ageMs }: Case) => !hasMaximum || ageMs < (maximumMs ?? TWO_YEARS_MS)
const isUserAccepted = (one: Case) => one.hasUserTokens && isYoung(one)

test('the cases have tokens that are accepted from users, from teams alone, and from nobody', () => {
  const outcomes = new Set(cases.map((one) => `user ${isUserAccepted(one)}, team ${isYoung(one)}`))
  expect([...outcomes].toSorted()).toEqual([
    'user false, team false',
    'user false, team true',
    'user true, team true',
  ])
})

onEachEngine('single answers and lists accept the same tokens', (server) => {
  let organization: Awaited<ReturnType<typeof createTestOrganization>>
  let team: string
  let member: Member
  let ofTeam: Client
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    team = await createTeam(organization)
    member = await addMember(server, organization, [team])
    ofTeam = await createTeamToken(server, organization, team)
  })

  /** Writes the rules of the organization and the age of the tokens into the database. */
  const arrange = ({ hasUserTokens, hasMaximum, maximumMs, ageMs }: Case) =>
    server.app.deps.database.write(async ({ db }) => {
      await db
        .updateTable('organizations')
        .set({
          user_tokens_enabled: hasUserTokens ? 1 : 0,
          max_ttl_enabled: hasMaximum ? 1 : 0,
          max_ttl_user_ms: maximumMs,
          max_ttl_team_ms: maximumMs,
        })
        .where('id', '=', organization.id)
        .execute()
      const created_at = new Date(server.clock.now().getTime() - ageMs).toISOString()
      await db
        .updateTable('authentication_tokens')
        .set({ created_at, expires_at: '2099-01-01T00:00:00.000Z' })
        .where((eb) => eb.or([eb('user_id', '=', member.id), eb('team_id', '=', team)]))
        .execute()
    })

  test('of users', async () => {
    for (const one of cases) {
      await arrange(one)
      const answers = {
        organization: await statusOf(member.client, `/organizations/${organization.name}`),
        organizations: (await dataOf(member.client, '/organizations')).length,
        memberships: (await dataOf(member.client, '/organization-memberships')).length,
        otherUser: await statusOf(member.client, `/users/${organization.owner.id}`),
      }
      expect(answers, JSON.stringify(one)).toEqual(
        isUserAccepted(one)
          ? { organization: 200, organizations: 1, memberships: 1, otherUser: 200 }
          : { organization: 401, organizations: 0, memberships: 0, otherUser: 404 },
      )
    }
  })

  test('of teams', async () => {
    const active = `/organizations/${organization.name}/team-tokens?filter[expiry_status]=active`
    for (const one of cases) {
      await arrange(one)
      const answers = {
        team: await statusOf(ofTeam, `/teams/${team}`),
        activeTokens: (await dataOf(server.admin, active)).length,
      }
      expect(answers, JSON.stringify(one)).toEqual(
        isYoung(one) ? { team: 200, activeTokens: 1 } : { team: 401, activeTokens: 0 },
      )
    }
  })
})
