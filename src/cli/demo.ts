import { createHash } from 'node:crypto'

/** The data that `purser seed` creates: an example of every kind of access. */
export const demo = {
  organization: 'demo',
  people: [
    { username: 'anna', role: 'owns the organization' },
    { username: 'ben', role: 'in platform: manages projects and workspaces' },
    {
      username: 'rosa',
      role: 'in apps: reads the outputs of database and of the project data, and no state',
    },
    { username: 'carl', role: 'in security, a secret team, which reads every workspace and the audit trail' },
    { username: 'dora', role: 'in no team: a plain member' },
  ],
  teams: [
    { name: 'platform', visibility: 'organization', flags: { 'manage-projects': true }, members: ['ben'] },
    { name: 'apps', visibility: 'organization', flags: {}, members: ['rosa'] },
    {
      name: 'security',
      visibility: 'secret',
      flags: { 'read-workspaces': true, 'read-audit': true },
      members: ['carl'],
    },
  ],
  project: {
    name: 'data',
    description: 'Where reports come from',
    grant: { team: 'apps', access: 'custom', 'workspace-access': { 'state-versions': 'read-outputs' } },
  },
  /** The outputs of each state version, oldest first. */
  workspaces: [
    {
      name: 'network',
      description: 'What everything else stands on',
      project: undefined,
      history: [
        {
          vpc_id: { value: 'vpc-0a1b2c3d', type: 'string' },
          subnets: { value: ['10.0.1.0/24'], type: ['tuple', ['string']] },
        },
        {
          vpc_id: { value: 'vpc-0a1b2c3d', type: 'string' },
          subnets: { value: ['10.0.1.0/24', '10.0.2.0/24'], type: ['tuple', ['string', 'string']] },
        },
      ],
    },
    {
      name: 'database',
      description: 'Its address is for everyone, its password for few',
      project: undefined,
      history: [
        {
          address: { value: 'old-db.internal.example', type: 'string' },
          password: { value: 'hunter2', type: 'string', sensitive: true },
        },
        {
          address: { value: 'db.internal.example', type: 'string' },
          password: { value: 'hunter2', type: 'string', sensitive: true },
        },
        {
          address: { value: 'db.internal.example', type: 'string' },
          port: { value: 5432, type: 'number' },
          password: { value: 'correct horse battery staple', type: 'string', sensitive: true },
        },
      ],
    },
    {
      name: 'warehouse',
      description: 'Reports read from here',
      project: 'data',
      history: [
        {
          bucket: { value: 'reports-7f3a', type: 'string' },
          retention: {
            value: { days: 90, tiers: ['hot', 'cold'] },
            type: ['object', { days: 'number', tiers: ['tuple', ['string', 'string']] }],
          },
        },
      ],
    },
  ],
  grant: { team: 'apps', workspace: 'database', access: 'custom', 'state-versions': 'read-outputs' },
  invited: 'fay@demo.example',
} as const

const LINEAGE = '5c1a7d0e-0000-4000-8000-000000000000'

/** The request attributes of a state with these outputs. */
export function stateAttributes(outputs: object, serial: number) {
  const state = {
    version: 4,
    terraform_version: '1.10.10',
    serial,
    lineage: LINEAGE,
    outputs,
    resources: [],
  }
  const text = JSON.stringify(state)
  return {
    serial,
    lineage: LINEAGE,
    md5: createHash('md5').update(text).digest('hex'),
    state: Buffer.from(text).toString('base64'),
  }
}
