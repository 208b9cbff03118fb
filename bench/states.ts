// Workspaces with states, created over HTTP like a client does.
import { createHash } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import type { Purser } from './purser.ts'
import type { Organization } from './seed.ts'

const MEGABYTE = 1_000_000
const LINEAGE = '3f2c1a88-7d55-4b7e-9d4f-0a1b2c3d4e5f'

type Document = { data: { id: string; attributes: Record<string, unknown> } }

/** An output. The usual kinds take turns, and one in ten is sensitive if `withSensitive` is set. */
function output(number: number, withSensitive: boolean): [string, object] {
  const name = `output_${String(number).padStart(5, '0')}`
  const kinds = [
    { value: `subnet-0${number}a1b2c3d4e5f6`, type: 'string' },
    { value: number * 1_000 + 0.5, type: 'number' },
    { value: number % 2 === 0, type: 'bool' },
    { value: [`10.0.${number % 256}.0/24`, `10.1.${number % 256}.0/24`], type: ['list', 'string'] },
    {
      value: { id: `vpc-${number}`, zone: 'eu-west-1a', ports: [80, 443] },
      type: ['object', { id: 'string', zone: 'string', ports: ['list', 'number'] }],
    },
  ]
  const sensitive = withSensitive && number % 10 === 9 ? { sensitive: true } : {}
  return [name, { ...kinds[number % kinds.length], ...sensitive }]
}

export type StateFile = { chunks: Buffer[]; length: number; md5: string; serial: number }

function stateFile(serial: number, chunks: Buffer[]): StateFile {
  const hash = createHash('md5')
  let length = 0
  for (const chunk of chunks) {
    hash.update(chunk)
    length += chunk.length
  }
  return { chunks, length, md5: hash.digest('hex'), serial }
}

function head(serial: number, outputs: number, withSensitive: boolean): string {
  const all = Object.fromEntries(
    Array.from({ length: outputs }, (_, number) => output(number, withSensitive)),
  )
  return `{"version":4,"terraform_version":"1.10.10","serial":${serial},"lineage":"${LINEAGE}","outputs":${JSON.stringify(all)},"resources":[`
}

export function smallState(serial: number, outputs: number, withSensitive = false): StateFile {
  return stateFile(serial, [Buffer.from(`${head(serial, outputs, withSensitive)}],"check_results":null}\n`)])
}

/** A state with this many megabytes of resources, the same chunk repeated. */
export function largeState(serial: number, megabytes: number): StateFile {
  const instance = (number: number) => ({
    mode: 'managed',
    type: 'aws_instance',
    name: `server_${number}`,
    provider: 'provider["registry.opentofu.org/hashicorp/aws"]',
    instances: [
      {
        schema_version: 1,
        attributes: {
          id: `i-0${number}`,
          ami: 'ami-0abcdef1234567890',
          tags: { Name: `server "${number}"`, Team: 'platform\n' },
          private_ip: `10.0.0.${number % 256}`,
          user_data: 'x'.repeat(200),
        },
        dependencies: ['aws_vpc.main', 'aws_subnet.private'],
      },
    ],
  })
  const some = Array.from({ length: 1_600 }, (_, number) => JSON.stringify(instance(number))).join(',')
  const chunk = Buffer.from(`${some},`)
  const count = Math.ceil((megabytes * MEGABYTE) / chunk.length)
  return stateFile(serial, [
    Buffer.from(head(serial, 20, false)),
    ...Array.from({ length: count }, () => chunk),
    Buffer.from(`${JSON.stringify(instance(0))}],"check_results":null}\n`),
  ])
}

export async function createWorkspace(
  purser: Purser,
  organization: Organization,
  name: string,
): Promise<string> {
  const { token } = organization.owner
  const made = await purser.must('POST', `/organizations/${organization.name}/workspaces`, token, {
    data: { type: 'workspaces', attributes: { name } },
  })
  const { id } = (JSON.parse(made.text) as Document).data
  await purser.must('POST', `/workspaces/${id}/actions/lock`, token, {})
  return id
}

/** Larger states are uploaded apart. */
const isLarge = ({ length }: StateFile) => length > 20 * MEGABYTE

/** The body that creates a state version. */
export function pushBody(file: StateFile) {
  const content = isLarge(file) ? {} : { state: Buffer.concat(file.chunks).toString('base64') }
  const attributes = { serial: file.serial, md5: file.md5, lineage: LINEAGE, ...content }
  return { data: { type: 'state-versions', attributes } }
}

/** Stores a state and waits until its outputs are readable. Returns the state version's id. */
export async function upload(
  purser: Purser,
  workspaceId: string,
  token: string,
  file: StateFile,
): Promise<string> {
  const made = await purser.must('POST', `/workspaces/${workspaceId}/state-versions`, token, pushBody(file))
  const { id, attributes } = (JSON.parse(made.text) as Document).data
  if (isLarge(file)) await put(attributes['hosted-state-upload-url'] as string, file)
  await untilReadable(purser, workspaceId, token, id)
  return id
}

function put(url: string, file: StateFile): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/octet-stream', 'content-length': file.length }
    const request = httpRequest(url, { method: 'PUT', headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('end', () => {
        if ((response.statusCode ?? 0) < 300) resolve()
        else reject(new Error(`PUT of a state: ${response.statusCode} ${text.slice(0, 300)}`))
      })
    })
    request.on('error', reject)
    void (async () => {
      for (const chunk of file.chunks) {
        if (!request.write(chunk)) await new Promise((drained) => request.once('drain', drained))
      }
      request.end()
    })()
  })
}

const POLL_MS = 2
const PATIENCE_MS = 60_000

async function untilReadable(purser: Purser, workspaceId: string, token: string, stateVersionId: string) {
  const start = performance.now()
  while (performance.now() - start < PATIENCE_MS) {
    const answer = await purser.must('GET', `/state-versions/${stateVersionId}`, token)
    const { attributes } = (JSON.parse(answer.text) as Document).data
    if (attributes['resources-processed'] === true) {
      await purser.must('GET', `/workspaces/${workspaceId}/current-state-version-outputs`, token)
      return
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error('the outputs of a state did not become readable')
}

type OutputList = { data: { id: string }[] }

/** The ids of the current state version's outputs. */
export async function outputIds(purser: Purser, workspaceId: string, token: string): Promise<string[]> {
  const { text } = await purser.must('GET', `/workspaces/${workspaceId}/current-state-version-outputs`, token)
  return (JSON.parse(text) as OutputList).data.map(({ id }) => id)
}
