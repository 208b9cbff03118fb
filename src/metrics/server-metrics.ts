import { statfs } from 'node:fs/promises'
import { version } from '../core/version.ts'
import type { Config } from '../config.ts'
import type { StoredBytes } from '../state-content/state-bytes-store.ts'
import type { Database } from '../database/database.ts'
import type { RunnerDeps } from '../http/deps.ts'
import { counter, gauge, labelsOf, type Family } from './exposition.ts'
import { ProcessMetrics } from './process-metrics.ts'

type Measured = Pick<
  RunnerDeps,
  'config' | 'database' | 'bytesInFlight' | 'requestMetrics' | 'drain' | 'overloads' | 'states'
>

/** Reads all metrics of a server in this process. The database is not asked, so they are there during an outage, too. */
export type ReadMetrics = () => Promise<readonly Family[]>

export function metricsOf(server: Measured): ReadMetrics {
  const processMetrics = new ProcessMetrics()
  return async () => [...(await serverFamilies(server)), ...processMetrics.families()]
}

async function serverFamilies({
  config,
  database,
  bytesInFlight,
  requestMetrics,
  drain,
  overloads,
  states: { stored },
}: Measured): Promise<readonly Family[]> {
  const build = { version, node: process.versions.node, engine: database.engine }
  return [
    gauge('purser_build_info', 'Versions that run, and the engine of the database.', [
      { labels: labelsOf(build), value: 1 },
    ]),
    ...(requestMetrics?.families() ?? []),
    gauge('purser_http_connections', 'Open connections of clients.', drain.connections.count),
    counter(
      'purser_http_overloads_total',
      'Requests that were answered 503 because of others, by what was used up.',
      overloads.counts.map(([of, value]) => ({ labels: labelsOf({ of }), value })),
    ),
    gauge(
      'purser_bytes_in_flight',
      'Memory for bodies, uploads and large answers that are on their way.',
      bytesInFlight.taken,
    ),
    gauge(
      'purser_bytes_in_flight_max',
      'Limit of purser_bytes_in_flight (PURSER_MAX_BYTES_IN_FLIGHT).',
      bytesInFlight.limit,
    ),
    ...databaseFamilies(database),
    ...(stored === undefined ? [] : storedFamilies(stored, config)),
    ...(config.databaseUrl === undefined ? await diskFamilies(config.data) : []),
  ]
}

function databaseFamilies({ availability, load }: Database): readonly Family[] {
  const { connections, waiting } = load
  return [
    gauge(
      'purser_database_up',
      'Whether the database can be read and written, as far as requests and /readyz have found.',
      availability.isAway ? 0 : 1,
    ),
    gauge('purser_database_waiting_requests', 'Requests that wait for the database.', waiting),
    ...(connections === undefined
      ? []
      : [
          gauge('purser_database_connections', 'Connections for transactions.', [
            { labels: labelsOf({ state: 'used' }), value: connections.used },
            { labels: labelsOf({ state: 'idle' }), value: connections.idle },
          ]),
        ]),
  ]
}

/** No label has the name of an organization: anybody may create some. `GET /admin/organizations` has all of them. */
function storedFamilies({ total, largest }: StoredBytes, config: Config): readonly Family[] {
  return [
    gauge(
      'purser_state_bytes',
      'Bytes that the states of all organizations take, a minute ago or less.',
      total,
    ),
    gauge(
      'purser_state_bytes_largest',
      'Bytes that the states of the organization with most of them take, a minute ago or less.',
      largest,
    ),
    gauge(
      'purser_state_bytes_max',
      'Limit for the states of one organization (PURSER_MAX_ORGANIZATION_BYTES).',
      config.maxOrganizationBytes,
    ),
  ]
}

/** None while the folder cannot be reached. */
async function diskFamilies(folder: string): Promise<readonly Family[]> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder)
    return [
      gauge('purser_disk_free_bytes', 'Free space for the SQLite database.', bavail * bsize),
      gauge('purser_disk_size_bytes', 'Size of the disk of the SQLite database.', blocks * bsize),
    ]
  } catch {
    return []
  }
}
