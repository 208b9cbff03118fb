import { createHash } from 'node:crypto'

/** The data that `purser seed` creates: an example of every kind of access. */
export const demo = {
  organization: 'demo',
  people: [
    { username: 'anna', role: 'owns the organization' },
    { username: 'ben', role: 'in platform: manages projects and workspaces' },
    { username: 'rosa', role: 'in apps: reads the outputs of database, and no state' },
    { username: 'carl', role: 'in security, a secret team, which reads every workspace' },
    { username: 'dora', role: 'in no team: a plain member' },
  ],
  teams: [
    { name: 'platform', visibility: 'organization', flags: { 'manage-projects': true }, members: ['ben'] },
    { name: 'apps', visibility: 'organization', flags: {}, members: ['rosa'] },
    { name: 'security', visibility: 'secret', flags: { 'read-workspaces': true }, members: ['carl'] },
  ],
  workspaces: [
    {
      name: 'network',
      description: 'What everything else stands on',
      outputs: {
        vpc_id: { value: 'vpc-0a1b2c3d', type: 'string' },
        subnets: { value: ['10.0.1.0/24', '10.0.2.0/24'], type: ['tuple', ['string', 'string']] },
      },
    },
    {
      name: 'database',
      description: 'Its address is for everyone, its password for few',
      outputs: {
        address: { value: 'db.internal.example', type: 'string' },
        port: { value: 5432, type: 'number' },
        password: { value: 'correct horse battery staple', type: 'string', sensitive: true },
      },
    },
  ],
  grant: { team: 'apps', workspace: 'database', access: 'custom', 'state-versions': 'read-outputs' },
} as const

const LINEAGE = '5c1a7d0e-0000-4000-8000-000000000000'

/** The request attributes of a first state with these outputs. */
export function stateAttributes(outputs: object) {
  const state = {
    version: 4,
    terraform_version: '1.10.10',
    serial: 1,
    lineage: LINEAGE,
    outputs,
    resources: [],
  }
  const text = JSON.stringify(state)
  return {
    serial: 1,
    lineage: LINEAGE,
    md5: createHash('md5').update(text).digest('hex'),
    state: Buffer.from(text).toString('base64'),
  }
}
