import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { flagSet, hasFlag, knownFlags, organizationFlags } from '../src/access/organization-flags.ts'
import { applyFlagChanges, type FlagChanges } from '../src/teams/organization-access.ts'
import { engines } from './support/engines.ts'
import { isLong, longTimeout } from './support/runs.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createTestOrganization } from './support/world.ts'

const dialects = ['documented', 'current'] as const
type Dialect = (typeof dialects)[number]
type Flags = Readonly<Record<string, boolean>>

const fourteen = [
  'manage-policies',
  'manage-policy-overrides',
  'manage-run-tasks',
  'manage-workspaces',
  'manage-vcs-settings',
  'manage-agent-pools',
  'manage-providers',
  'manage-modules',
  'manage-projects',
  'read-projects',
  'read-workspaces',
  'manage-membership',
  'manage-teams',
  'manage-organization-access',
]
/** Purser's own flag. Documents have it only if the request asks for fields. */
const own = 'read-audit'
const inDialect: Record<Dialect, readonly string[]> = {
  documented: [...fourteen, own],
  current: [...fourteen, 'delegate-policy-overrides', 'access-secret-teams', own],
}

/** The rule flag-order of docs/reference/teams.md, independent of the server's code: the flags after a change, or those that a refusal points at. */
function judge(before: Flags, change: Flags, dialect: Dialect): Flags | string[] {
  const given = (flag: string) => (inDialect[dialect].includes(flag) ? change[flag] : undefined)
  const merged: Record<string, boolean> = { ...before }
  for (const flag of inDialect[dialect]) merged[flag] = given(flag) ?? before[flag] ?? false
  // First, a flag turns on the flags that it implies …
  if (merged['manage-projects'] && given('manage-workspaces') === undefined)
    merged['manage-workspaces'] = true
  if (merged['read-projects'] && given('read-workspaces') === undefined) merged['read-workspaces'] = true
  // … then manage-workspaces turns on read-workspaces, even over an explicit false. In the current dialect an explicit
  // false stays until manage-workspaces is set or turned on again …
  if (merged['manage-workspaces']) {
    const isTurnedOn = given('manage-workspaces') === true || before['manage-workspaces'] !== true
    if (dialect === 'documented' || (given('read-workspaces') === undefined && isTurnedOn)) {
      merged['read-workspaces'] = true
    }
  }
  // … then contradictions are refused.
  const refused: string[] = []
  if (merged['manage-projects'] && !merged['manage-workspaces']) refused.push('manage-workspaces')
  if (merged['read-projects'] && !merged['read-workspaces']) refused.push('read-workspaces')
  return refused.length > 0 ? refused : merged
}

const pointers = (flags: readonly string[]) =>
  flags.map((flag) => `/data/attributes/organization-access/${flag}`)

const related = ['manage-projects', 'manage-workspaces', 'read-projects', 'read-workspaces'] as const
/** Any flags, and often flags that depend on each other. */
const change: fc.Arbitrary<FlagChanges> = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...organizationFlags), fc.boolean(), { maxKeys: 6 }),
    fc.dictionary(fc.constantFrom(...related), fc.boolean()),
  )
  .map(([some, more]) => ({ ...some, ...more }))

const CHANGES_IN_A_ROW = 10
const changesInARow = fc.array(change, { minLength: CHANGES_IN_A_ROW, maxLength: CHANGES_IN_A_ROW })

function readSet(set: number): Flags {
  return Object.fromEntries(organizationFlags.map((flag) => [flag, hasFlag(set, flag)]))
}

describe.each(dialects)('random flag changes, %s dialect', (dialect) => {
  const numRuns = (isLong ? 100_000 : 5_000) / CHANGES_IN_A_ROW

  test(`the rules hold after each of ${numRuns * CHANGES_IN_A_ROW}`, () => {
    expect(knownFlags(dialect).toSorted()).toEqual(inDialect[dialect].toSorted())
    // Flags that only the other dialect knows may be stored, and must not change.
    const foreign = fc.constantFrom(0, flagSet('delegate-policy-overrides', 'access-secret-teams'))
    let refusals = 0
    fc.assert(
      fc.property(foreign, changesInARow, (start, changes) => {
        let set = start
        for (const asked of changes) {
          const expected = judge(readSet(set), asked, dialect)
          const { flags, problems } = applyFlagChanges(set, asked, dialect)
          if (problems.length === 0) {
            set = flags
            expect(readSet(set)).toEqual(expected)
          } else {
            refusals += 1
            expect(problems.map(({ pointer }) => pointer)).toEqual(pointers(expected as string[]))
          }
          const { 'manage-projects': projects, 'read-projects': readProjects, ...after } = readSet(set)
          expect(projects && !after['manage-workspaces']).toBe(false)
          expect(readProjects && !after['read-workspaces']).toBe(false)
        }
      }),
      { numRuns },
    )
    expect(refusals).toBeGreaterThan(numRuns / 10)
  })

  const asksForFlags = 'fields[teams]=organization-access'
  describe.each(engines)('over HTTP on %s', (engine) => {
    let server: TestServer
    beforeAll(async () => {
      server = await startServer(engine, { dialect })
    })
    afterAll(() => server.stop())

    test('a team is created and updated by the same rules', { timeout: longTimeout }, async () => {
      const { name, owner } = await createTestOrganization(server)
      let count = 0
      const create = fc.asyncProperty(changesInARow, async (changes) => {
        let id: string | undefined
        let flags: Flags = {}
        for (const asked of changes) {
          const body = (attributes: object) => ({
            data: { type: 'teams', attributes: { ...attributes, 'organization-access': asked } },
          })
          const expected = judge(flags, asked, dialect)
          const answer =
            id === undefined
              ? await owner.client.post(
                  `/organizations/${name}/teams?${asksForFlags}`,
                  body({ name: `team-${(count += 1)}` }),
                )
              : await owner.client.patch(`/teams/${id}?${asksForFlags}`, body({}))
          if (Array.isArray(expected)) {
            expect(answer.status).toBe(422)
            const found = answer.json.errors.map(
              (error: { source: { pointer: string } }) => error.source.pointer,
            )
            expect(found).toEqual(pointers(expected))
          } else {
            expect(answer.status).toBe(200)
            expect(answer.json.data.attributes['organization-access']).toEqual(expected)
            id = answer.json.data.id as string
            flags = expected
          }
        }
      })
      await fc.assert(create, { numRuns: isLong ? 500 : 10 })
    })
  })
})
