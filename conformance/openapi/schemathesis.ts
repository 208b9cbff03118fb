import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Tally } from '../go.ts'
import { pythonProgram } from './python-programs.ts'
import { isSentQueryValid } from './sent-query.ts'

/** `positive_data_acceptance` finds valid requests that are refused. Each must be listed in refused.json. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'positive_data_acceptance',
]
/** The run must not delete its own token or suspend its own user. */
const WITHOUT_PATHS =
  '/authentication-tokens/|/actions/(suspend|revoke_admin)$|/admin/users/[^/]+$|/team-tokens$'

const listed = (
  JSON.parse(readFileSync(join(import.meta.dirname, 'refused.json'), 'utf8')) as { details: string[] }[]
).flatMap(({ details }) => details.map((pattern) => new RegExp(pattern, 'i')))

type Check = { name: string; status: string; failure_info?: { failure: { title: string; message: string } } }
type Scenario = {
  recorder: {
    label: string
    cases: Record<string, { value: { method: string; path: string } }>
    checks?: Record<string, Check[]>
    interactions: Record<
      string,
      { request: { uri: string }; response?: { status_code: number; content?: { $base64?: string } } }
    >
  }
}

/** Sends valid and invalid requests, by the description, for some seconds. Each kind of finding is one failure. */
export async function runSchemathesis(
  address: string,
  token: string,
  { seconds, seed }: { seconds: number; seed: string },
): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-schemathesis-'))
  const report = join(folder, 'report.ndjson')
  const options = {
    header: `Authorization: Bearer ${token}`,
    'max-time': String(seconds),
    seed,
    'suppress-health-check': 'all',
    checks: CHECKS.join(','),
    'exclude-path-regex': WITHOUT_PATHS,
    report: 'ndjson',
    'report-ndjson-path': report,
    'output-truncate': 'false',
  }
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const words = ['run', `${address}/api/v2/openapi.json`, '--continue-on-failure', ...flags]
  try {
    const child = spawn(pythonProgram('schemathesis'), words, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    // Read while it runs, because it would block on a full pipe.
    const [code, ...said] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
    // 0 means no findings, 1 means findings.
    if (code !== 0 && code !== 1)
      throw new Error(`schemathesis ended with ${code}: ${said.join('').slice(-2_000)}`)
    return tallyOf(readFileSync(report, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function tallyOf(report: string): Tally {
  /** The first request of each kind of finding. */
  const found = new Map<string, string>()
  let requests = 0
  for (const line of report.split('\n')) {
    if (line === '') continue
    const event = JSON.parse(line) as { ScenarioFinished?: Scenario }
    if (event.ScenarioFinished === undefined) continue
    const { label, cases, checks, interactions } = event.ScenarioFinished.recorder
    for (const [id, of] of Object.entries(checks ?? {})) {
      requests++
      const body = Buffer.from(interactions[id]?.response?.content?.$base64 ?? '', 'base64').toString('utf8')
      for (const check of of) {
        if (check.status !== 'failure' || isListed(check, body)) continue
        const { method, path } = cases[id]?.value ?? { method: '', path: '' }
        const uri = interactions[id]?.request.uri ?? ''
        if (isAboutQuery(check) && isSentQueryValid(method, path, uri)) continue
        const finding = `${label}: ${wordsOf(check, body)}`
        if (!found.has(finding)) found.set(finding, `${method} ${uri}`)
      }
    }
  }
  for (const [finding, request] of found)
    process.stdout.write(`conformance: schemathesis: ${finding} (${request})\n`)
  return { passed: requests > 0 ? 1 : 0, failed: requests > 0 ? found.size : 1 }
}

function isListed({ name }: Check, body: string): boolean {
  return (
    name === 'positive_data_acceptance' && detailsOf(body).every((one) => listed.some((it) => it.test(one)))
  )
}

/** Whether the check says that an invalid query was accepted, and nothing else. */
function isAboutQuery({ name, failure_info: info }: Check): boolean {
  return name === 'negative_data_rejection' && / in query\b/.test(info?.failure.message ?? '')
}

function wordsOf({ name, failure_info: info }: Check, body: string): string {
  return `${info?.failure.title ?? name}: ${detailsOf(body).join('; ') || (info?.failure.message ?? '')}`.slice(
    0,
    500,
  )
}

function detailsOf(body: string): string[] {
  try {
    const { errors } = JSON.parse(body) as { errors?: { detail?: string }[] }
    return (errors ?? []).map(({ detail }) => detail ?? '')
  } catch {
    return [body.slice(0, 200)]
  }
}
