// Hidden against missing: how long the same 404 takes for a hidden object and for one that does not exist.
import type { Bench, Figure, Row } from './bench.ts'
import { wire } from './purser.ts'
import { workspaceWith } from './rows-outputs.ts'
import { outputIds } from './states.ts'

// Refusals leave at fixed steps of time, so there are only about a hundred per second.
const PAIRS = 1_000
const QUICK_PAIRS = 200
/** Valid after every id prefix, but never used. */
const NO_ID = 'NoSuchThing11111'

type Kind = {
  name: string
  /** The path of a hidden object and of a missing one, and the token to send. */
  pair: (bench: Bench) => Promise<{ hidden: string; missing: string; token: string }>
}

const kinds: Kind[] = [
  {
    name: 'team',
    pair: async ({ world: { small } }) => {
      const mine = new Set(small.memberTeams.map(({ id }) => id))
      const hidden = small.teams.find(({ id, visibility }) => visibility === 'secret' && !mine.has(id))
      return { hidden: `/teams/${hidden?.id}`, missing: `/teams/team-${NO_ID}`, token: small.member.token }
    },
  },
  {
    name: 'organization',
    pair: async ({ world: { small, outsider } }) => ({
      hidden: `/organizations/${small.name}`,
      missing: '/organizations/smalx',
      token: outsider.token,
    }),
  },
  {
    name: 'workspace',
    pair: async (bench) => {
      const { workspaceId } = await workspaceWith(bench, 20)
      return {
        hidden: `/workspaces/${workspaceId}`,
        missing: `/workspaces/ws-${NO_ID}`,
        token: bench.world.small.member.token,
      }
    },
  },
  {
    name: 'state version',
    pair: async (bench) => {
      const { stateVersionId } = await workspaceWith(bench, 20)
      return {
        hidden: `/state-versions/${stateVersionId}`,
        missing: `/state-versions/sv-${NO_ID}`,
        token: bench.world.small.member.token,
      }
    },
  },
  {
    name: 'output',
    pair: async (bench) => {
      const { small } = bench.world
      const { workspaceId } = await workspaceWith(bench, 20)
      const [id] = await outputIds(bench.purser, workspaceId, small.owner.token)
      return {
        hidden: `/state-version-outputs/${id}`,
        missing: `/state-version-outputs/wsout-${NO_ID}`,
        token: small.member.token,
      }
    },
  },
  {
    name: 'membership',
    pair: async ({ world: { small, outsider } }) => ({
      hidden: `/organization-memberships/${small.memberMembershipId}`,
      missing: `/organization-memberships/ou-${NO_ID}`,
      token: outsider.token,
    }),
  },
  {
    name: 'token',
    pair: async ({ world: { small, outsider } }) => ({
      hidden: `/authentication-tokens/${small.owner.tokenId}`,
      missing: `/authentication-tokens/at-${NO_ID}`,
      token: outsider.token,
    }),
  },
]

export const hiddenRows: Row[] = kinds.map(({ name, pair }) => {
  const what = `forbidden against missing: ${name}`
  return {
    id: `hidden-${name.replace(' ', '-')}`,
    what,
    run: async (bench) => {
      const { hidden, missing, token } = await pair(bench)
      const answers = [
        await bench.purser.request('GET', hidden, token),
        await bench.purser.request('GET', missing, token),
      ]
      if (answers[0]?.status !== 404 || answers[0].text !== answers[1]?.text) {
        throw new Error(
          `the answers differ: ${answers.map(({ status, text }) => `${status} ${text}`).join(' / ')}`,
        )
      }
      // Alternate which of the two comes first.
      const requests = [hidden, missing, missing, hidden].map((path) => wire('GET', path, token))
      const job = { requests, groups: [0, 1, 1, 0], connections: 1 }
      await bench.run({ ...job, count: 400 }, '404')
      const count = 2 * (bench.isQuick ? QUICK_PAIRS : PAIRS)
      const { latencies } = await bench.run({ ...job, count }, '404')
      const [ofHidden = Number.NaN, ofMissing = Number.NaN] = latencies.map(({ p50 }) => p50 * 1_000)
      const figure: Figure = {
        what,
        value: Math.abs(100 * (ofHidden / ofMissing - 1)),
        unit: '% between the medians',
        atLeast: 5,
        better: 'less',
        details: `hidden ${ofHidden.toFixed(0)} µs, missing ${ofMissing.toFixed(0)} µs`,
      }
      return { figures: [figure] }
    },
  }
})
