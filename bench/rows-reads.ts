// Reads of teams and related lists, compared with the floor.
import type { Row } from './bench.ts'
import { comparedRow, type Asked, type Reading } from './compare.ts'
import { BROAD } from './seed-broad.ts'
import { LARGE, type Organization, type Person } from './seed.ts'

const PAGE = 20
const ANY = 2_000

function list(organization: Organization, reader: Person, page = 1): Asked {
  const path = `/organizations/${organization.name}/teams?page%5Bnumber%5D=${page}&page%5Bsize%5D=${PAGE}`
  return { path, token: reader.token }
}

function show(team: { id: string } | undefined, reader: Person): Asked {
  return { path: `/teams/${team?.id}`, token: reader.token }
}

const readings: Reading[] = [
  {
    id: 'show-team',
    what: 'show a team',
    ask: ({ world: { small } }) => show(small.teams[3], small.owner),
    atLeast: 0.85,
    aim: 1,
  },
  {
    // More than a cache of requests keeps of one caller.
    id: 'show-any-team',
    what: `show one of ${ANY.toLocaleString('en')} teams`,
    ask: ({ world: { large } }) => {
      const [first, ...others] = large.teams.slice(1, ANY + 1).map(({ id }) => `/teams/${id}`)
      return { path: first ?? '', token: large.owner.token, others }
    },
    atLeast: 0.5,
    aim: 0.85,
  },
  {
    id: 'list-20',
    what: 'list of 20 teams',
    ask: ({ world: { small } }) => list(small, small.owner),
    atLeast: 0.85,
    aim: 1,
  },
  {
    id: 'first-page',
    what: `first page of ${LARGE.toLocaleString('en')} teams`,
    ask: ({ world: { large } }) => list(large, large.owner),
    short: ({ world: { small } }) => list(small, small.owner),
    atLeast: 0.8,
    aim: 1,
  },
  {
    id: 'last-page',
    what: `last page of ${LARGE.toLocaleString('en')} teams`,
    ask: ({ world: { large } }) => list(large, large.owner, LARGE / PAGE),
    atLeast: 0.7,
    aim: 0.9,
  },
  {
    id: 'member-show',
    what: 'plain member: show a team',
    ask: ({ world: { small } }) => show(small.memberTeams[0], small.member),
    atLeast: 0.75,
    aim: 0.85,
  },
  {
    id: 'member-list-20',
    what: 'plain member: list of 20 teams',
    ask: ({ world: { small } }) => list(small, small.member),
    atLeast: 0.6,
    aim: 0.85,
  },
  {
    id: 'member-first-page',
    what: `plain member: first page of ${LARGE.toLocaleString('en')} teams`,
    ask: ({ world: { large } }) => list(large, large.member),
    atLeast: 0.5,
    aim: 0.85,
  },
  {
    id: 'workspaces-20',
    what: `list of 20 of ${BROAD.toLocaleString('en')} workspaces`,
    ask: ({ world: { broad } }) => ({
      path: `/organizations/${broad.name}/workspaces?page%5Bsize%5D=${PAGE}`,
      token: broad.owner.token,
    }),
    atLeast: 0.6,
    aim: 0.85,
  },
  {
    id: 'team-workspaces-20',
    what: `list of 20 of ${BROAD.toLocaleString('en')} team accesses to a workspace`,
    ask: ({ world: { broad } }) => ({
      path: `/team-workspaces?filter%5Bworkspace%5D%5Bid%5D=${broad.workspaceId}&page%5Bsize%5D=${PAGE}`,
      token: broad.owner.token,
    }),
    atLeast: 0.6,
    aim: 0.85,
  },
  {
    id: 'memberships-20',
    what: `list of 20 of ${BROAD.toLocaleString('en')} memberships`,
    ask: ({ world: { broad } }) => ({
      path: `/organizations/${broad.name}/organization-memberships?page%5Bsize%5D=${PAGE}`,
      token: broad.owner.token,
    }),
    atLeast: 0.6,
    aim: 0.85,
  },
]

export const readRows: Row[] = readings.map(comparedRow)
