import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newTokenText } from '../src/authentication-tokens/token-text.ts'
import { maskedPath, maskedSegment } from '../src/core/masked-path.ts'
import { idPrefixes, newId, newSecret, randomBase58, type IdKind } from '../src/core/ids.ts'
import { decompressor } from '../src/operation/backup-format.ts'
import { engines } from './support/engines.ts'
import { run, settingsOf, temporaryFolder } from './support/purser.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createTestOrganization, createWorkspace } from './support/world.ts'

/** Texts that somebody may paste by mistake, of this server and of others. */
const secrets = () => [
  newTokenText('user'),
  newTokenText('team'),
  newTokenText('organization'),
  newTokenText('user').slice(0, 20),
  `${randomBase58(14)}.atlasv1.${randomBase58(67)}`,
  newSecret(),
  `ghp_${randomBase58(32)}9Zz9`,
  `hvs.${randomBase58(24)}`,
  '0b8b4f3e-8c2f-4d38-9c1d-0a4c1f4f9a55',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln',
  'a-secret%2Fwith-a-slash',
  'p@ssw0rd!',
]

test('what may be a token is masked in a path, and ids and names stay', () => {
  for (const secret of [...secrets(), encodeURIComponent(secrets()[0] ?? ''), '%70urser_user_abc', '%zz']) {
    expect(maskedPath(`/api/v2/teams/${secret}/relationships?x=${secret}`), secret).toBe(
      '/api/v2/teams/***/relationships',
    )
  }
  for (let count = 0; count < 1_000; count += 1) {
    expect(maskedSegment(randomBase58(32))).toBe('***')
    expect(maskedPath(`/uploads/${randomBase58(12)}/state-versions/x`)).toBe('/uploads/***/state-versions/x')
  }
  for (const kind of Object.keys(idPrefixes) as IdKind[]) {
    const id = newId(kind)
    expect(maskedSegment(id)).toBe(id)
  }
  for (const path of [
    '/api/v2/organizations/acme/workspaces/network-prod_eu-west-1/relationships/remote-state-consumers',
    '/app/acme/~/workspaces',
    '/api/v2/openapi.json',
    '/app/assets/index-Bx1z.js',
    '/api/v2/projects/My%20Project',
    '//',
  ]) {
    expect(maskedPath(path)).toBe(path)
  }
})

describe.each(engines)('a token in a path on %s', (engine) => {
  let lines = ''
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(
      engine,
      {},
      pino({ level: 'debug' }, { write: (line: string) => void (lines += line) }),
    )
  })
  afterAll(() => server.stop())

  test('is in no refusal, no log line, no error and no backup', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspace = await createWorkspace(organization)
    const pasted = secrets()
    const answers: string[] = []
    for (const secret of pasted) {
      for (const path of [
        `/teams/${secret}`,
        `/organizations/${organization.name}/workspaces/${secret}`,
        `/organizations/${organization.name}/unknown/${secret}`,
        `/workspaces/${workspace}/${secret}?token=${secret}`,
        `/organizations/${secret}`,
        `/account/details?${secret}=1`,
        `/state-versions?filter[organization][name]=${organization.name}&filter[workspace][name]=${secret}`,
      ]) {
        const answer = await client.get(path)
        expect([200, 400, 404], path).toContain(answer.status)
        answers.push(answer.text)
      }
    }
    await server.app.deps.refusals.flush()
    const refusals = await client.get(`/organizations/${organization.name}/refusals?page[size]=100`)
    const all = await server.admin.get('/admin/refusals?page[size]=100')
    expect(refusals.text).toContain('/unknown/***')
    expect(all.text).toContain('/api/v2/teams/***')
    const file = join(temporaryFolder(), 'backup')
    expect((await run(['backup', file], settingsOf(server))).code).toBe(0)
    const backup = await text(Readable.from([readFileSync(file)]).pipe(decompressor()))
    expect(backup).toContain('/unknown/***')
    expect(lines).toContain('/api/v2/teams/***')
    for (const secret of pasted) {
      for (const place of [refusals.text, all.text, backup, lines]) {
        expect(place.includes(secret), secret).toBe(false)
        expect(place.includes(decodeURIComponent(secret)), secret).toBe(false)
      }
      for (const answer of answers.filter((one) => one.includes('"status":"404"'))) {
        expect(answer).not.toContain(secret)
      }
    }
  })

  test('that an older release has stored in a refusal is not shown', async () => {
    const organization = await createTestOrganization(server)
    const secret = newTokenText('user')
    await organization.owner.client.get(`/organizations/${organization.name}/workspaces/nowhere`)
    await server.app.deps.refusals.flush()
    await server.app.deps.database.write((tx) =>
      tx.db
        .updateTable('refusals')
        .set({ path: `/api/v2/teams/${secret}`, object_type: 'teams', object_id: secret })
        .where('organization_id', '=', organization.id)
        .execute(),
    )
    const { text: shown } = await organization.owner.client.get(
      `/organizations/${organization.name}/refusals`,
    )
    expect(shown).toContain('/api/v2/teams/***')
    expect(shown).not.toContain(secret)
  })
})
