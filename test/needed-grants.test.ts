import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Actor } from '../src/access/actor.ts'
import { columnSet, isPermitted, type Standing, type Target, type TeamFacts } from '../src/access/decide.ts'
import { columnsOfGrant, type GrantFacts } from '../src/access/grants.ts'
import { flagChains, levelChains, neededGrants, type NeededGrant } from '../src/access/needed-grants.ts'
import { flagSet, organizationFlags } from '../src/access/organization-flags.ts'
import { rules, type Column, type Permission } from '../src/access/rules.ts'

const permissions = Object.keys(rules) as Permission[]

const flags = fc.subarray([...organizationFlags], { maxLength: 2 }).map((some) => flagSet(...some))

const teamFacts = fc.record({
  id: fc.constantFrom('team-a', 'team-b'),
  visibility: fc.constantFrom('secret' as const, 'organization' as const),
  isOwners: fc.boolean(),
  allowMemberTokenManagement: fc.boolean(),
  flags,
  ungivable: fc.record({ onWorkspaces: fc.boolean(), onProjects: fc.boolean() }),
})

const token = {
  tokenId: 'at-1',
  teamId: null,
  organizationId: null,
  isSiteAdmin: false,
  auditTrailOf: null,
  tokenMadeAt: '2026-01-01T00:00:00.000Z',
  tokenExpiresAt: '2028-01-01T00:00:00.000Z',
  name: 'somebody',
} as const

const actors: Record<Actor['kind'], Actor> = {
  user: { ...token, kind: 'user', userId: 'user-1' },
  team: { ...token, kind: 'team', userId: 'user-of-a-team', teamId: 'team-1', organizationId: 'org-1' },
  organization: { ...token, kind: 'organization', userId: null, organizationId: 'org-1' },
}

/** Combinations of columns that src/access/standing-store.ts can produce. */
const standings = fc
  .record({
    kind: fc.constantFrom<Actor['kind']>('user', 'user', 'user', 'team', 'organization'),
    place: fc.constantFrom<Column>('PM', 'PM', 'IN', 'OUT'),
    isHere: fc.boolean(),
    flags: fc.subarray<Column>(['MM', 'MW', 'MP', 'RO', 'AU', 'MT', 'MO']),
    teams: fc.subarray(['team-a', 'team-b']),
    lacks: flags,
  })
  .map(({ kind, place, isHere, flags, teams, lacks }) => {
    const isInside = kind === 'team' ? isHere : place === 'PM'
    const columns =
      kind === 'organization'
        ? isHere
          ? columnSet('OG')
          : 0
        : isInside
          ? columnSet(kind === 'team' ? 'TT' : 'PM', ...flags)
          : columnSet(kind === 'team' ? 'OUT' : place)
    const standing: Standing = {
      columns,
      teamIds: new Set(isInside && kind !== 'organization' ? teams : []),
      flags: 0,
      lacks,
      seesSecretTeams: kind === 'organization' && isHere,
      membersManageTokens: true,
    }
    return { actor: actors[kind], standing }
  })

const targets: fc.Arbitrary<Target> = fc.record(
  {
    userId: fc.constantFrom('user-1', 'user-2', null),
    team: teamFacts,
    teamsOfUser: fc.array(teamFacts, { maxLength: 2 }),
    sharesOrganization: fc.boolean(),
    grants: fc
      .subarray<Column>(['R', 'W', 'A', 'cO', 'cR', 'cW', 'cL', 'pC', 'pA'])
      .map((held) => columnSet(...held)),
  },
  { requiredKeys: [] },
)

const facts = fc.record(
  {
    organization: fc.record({ hasDelegation: fc.boolean(), hasSecretTeamsFlag: fc.boolean() }),
    workspaceId: fc.constant('ws-1'),
    projectId: fc.constant('prj-1'),
  },
  { requiredKeys: ['organization'] },
)

const chained = flagChains.flat()
const allLevels = Object.values(levelChains).flat(2)

/** The caller with a grant added, written independently of the server's code. */
function granted(
  needed: NeededGrant,
  { actor, standing, target }: { actor: Actor; standing: Standing; target: Target },
) {
  const asMember = (columns: number, more: Partial<Standing> = {}) => ({
    actor,
    target,
    standing: {
      ...standing,
      columns: columns | (standing.columns & ~columnSet('OUT', 'IN')) | columnSet('PM'),
      ...more,
    },
  })
  const inside = actor.kind === 'team' ? { actor, standing, target } : asMember(0)
  switch (needed.grant) {
    case 'site-admin':
      return {
        actor: { ...actor, isSiteAdmin: true },
        target,
        standing: { ...standing, columns: standing.columns | columnSet('SA') },
      }
    case 'membership':
      return asMember(0)
    case 'owner':
      return asMember(columnSet('OW'), { seesSecretTeams: true })
    case 'team-membership':
      return asMember(0, { teamIds: new Set([...standing.teamIds, needed.team]) })
    case 'allow-member-token-management':
      return {
        ...inside,
        target: { ...target, team: { ...(target.team as TeamFacts), allowMemberTokenManagement: true } },
      } as typeof inside
    case 'organization-access': {
      const column = chained.find(([flag]) => flag === needed.flag)?.[1]
      return {
        ...inside,
        standing: {
          ...inside.standing,
          columns: inside.standing.columns | (column === undefined ? 0 : columnSet(column)),
          seesSecretTeams: inside.standing.seesSecretTeams || needed.flag === 'access-secret-teams',
          lacks:
            inside.standing.lacks &
            ~flagSet(needed.flag) &
            ~(needed.flag === 'manage-workspaces' ? flagSet('read-workspaces') : 0),
        },
      }
    }
    case 'team-access': {
      const on = needed.on[0]?.type === 'workspaces' ? 'workspace' : 'project'
      const grant = allLevels.find(([name]) => name === needed.access)?.[1] as Omit<GrantFacts, 'on'>
      return {
        ...inside,
        target: { ...target, grants: (target.grants ?? 0) | columnsOfGrant({ ...grant, on }) },
      }
    }
    default:
      throw new Error(`not here: ${needed.grant}`)
  }
}

test('each grant that is named, given alone, makes the table say yes', () => {
  const seen = new Map<Permission, Set<string>>()
  fc.assert(
    fc.property(
      fc.constantFrom(...permissions),
      standings,
      targets,
      facts,
      (permission, caller, target, place) => {
        const judged = { ...caller, target }
        if (isPermitted(permission, judged.actor, judged.standing, target)) return
        for (const needed of neededGrants(permission, judged, place)) {
          const { actor, standing, target: changed } = granted(needed, judged)
          expect({ needed, says: isPermitted(permission, actor, standing, changed) }).toEqual({
            needed,
            says: true,
          })
          const kinds = seen.get(permission) ?? new Set()
          seen.set(permission, kinds.add(needed.grant))
        }
      },
    ),
    { numRuns: 20_000 },
  )
  // Only the user can have the first permission. Every user has the second one, and no other token can have it.
  expect(permissions.filter((permission) => !seen.has(permission))).toEqual([
    'account:read',
    'organization:create',
    // Needs a kind of token, so no grant can give it.
    'audit-trail:read',
  ])
})

test('a member who may not is told of an owner, and of every kind of column that has a yes', () => {
  const { user: actor } = actors
  const standing: Standing = {
    columns: columnSet('PM'),
    teamIds: new Set(),
    flags: 0,
    lacks: 0,
    seesSecretTeams: false,
    membersManageTokens: true,
  }
  const place = {
    organization: { hasDelegation: true, hasSecretTeamsFlag: false },
    workspaceId: 'ws-1',
    projectId: 'prj-1',
  }
  const team = {
    id: 'team-a',
    visibility: 'organization',
    isOwners: false,
    allowMemberTokenManagement: true,
    flags: 0,
    ungivable: { onWorkspaces: false, onProjects: false },
  } as const
  for (const permission of permissions) {
    const target: Target = { grants: 0, team, teamsOfUser: [team] }
    if (isPermitted(permission, actor, standing, target)) continue
    const needed = neededGrants(permission, { actor, standing, target }, place)
    const flags = needed.flatMap((one) => (one.grant === 'organization-access' ? [one.flag] : []))
    const row = rules[permission].split(/\s+/)
    const says = (column: Column) => ['Y', 'v', 'v5', 'v3', 'Y7'].includes(row[placeOf(column)] as string)
    expect([permission, needed.some(({ grant }) => grant === 'owner')]).toEqual([permission, says('OW')])
    expect([permission, needed.some(({ grant }) => grant === 'site-admin')]).toEqual([
      permission,
      says('SA') && !says('OW'),
    ])
    expect([permission, needed.some(({ grant }) => grant === 'team-access')]).toEqual([
      permission,
      (['R', 'W', 'A', 'cO', 'cR', 'cW', 'cL', 'pC', 'pA'] as const).some(says),
    ])
    // The first flag of each chain for which the row says yes.
    expect([permission, flags]).toEqual([
      permission,
      flagChains.flatMap((chain) => chain.find(([, column]) => says(column))?.[0] ?? []),
    ])
  }
})

const names = Object.fromEntries(
  'SA OW OG MM MT MO MW MP RO AU PM TM R W A cO cR cW cL pC pA TT IN OUT'
    .split(' ')
    .map((name, place) => [name, place]),
)
function placeOf(column: Column): number {
  return names[column] as number
}

test('"or more" is true: what the least of a chain gives, all behind it give', () => {
  const { user: actor } = actors
  const permits = (permission: Permission, columns: number) => {
    const standing = {
      columns: columns | columnSet('PM'),
      teamIds: new Set<string>(),
      flags: 0,
      lacks: 0,
      seesSecretTeams: true,
      membersManageTokens: true,
    }
    return isPermitted(permission, actor, standing, { teamsOfUser: [] })
  }
  const chains = [
    ...flagChains.map((chain) => chain.map(([, column]) => columnSet(column))),
    ...(['workspace', 'project'] as const).flatMap((on) =>
      levelChains[on].map((chain) => chain.map(([, grant]) => columnsOfGrant({ ...grant, on }))),
    ),
  ]
  for (const permission of permissions) {
    for (const chain of chains) {
      const answers = chain.map((columns) => permits(permission, columns))
      const first = answers.indexOf(true)
      expect(answers.slice(first === -1 ? answers.length : first)).not.toContain(false)
    }
  }
})
