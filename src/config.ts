import { entriesOf, keysOf } from './core/keys.ts'
import { contradictions } from './setting-contradictions.ts'
import {
  oneOf,
  integer,
  flag,
  listenAddress,
  path,
  databaseUrl,
  publicUrl,
  adminToken,
  secretKey,
  release,
  SettingError,
} from './setting-values.ts'

/** A setting is given as the variable PURSER_NAME or the flag --name. docs/settings.md is generated from this table. */
export type Setting<T> = {
  /** The default, as text. Undefined if there is none. */
  default?: string
  help: string
  isSecret?: true
  parse: (text: string) => T
}

function setting<T>(parse: (text: string) => T, help: string, initial?: string, isSecret?: true): Setting<T> {
  return { parse, help, default: initial, isSecret }
}

const MIB = 1024 * 1024

export const settings = {
  listen: setting(listenAddress, 'Address and port to serve on', '127.0.0.1:4567'),
  metricsListen: setting(
    listenAddress,
    'Address and port of GET /metrics for Prometheus, for example 127.0.0.1:9464. Anybody who reaches it may read the metrics',
  ),
  data: setting(path, 'Folder of the SQLite database, the secret key and the admin token', './data'),
  databaseUrl: setting(
    databaseUrl,
    'PostgreSQL to use instead of SQLite: postgres://user:password@host/database',
    undefined,
    true,
  ),
  publicUrl: setting(
    publicUrl,
    'Address at which clients reach this server; upload and download URLs begin with it (default: the address of each request)',
  ),
  trustProxy: setting(
    flag,
    'true behind a proxy that sets X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host; Purser then uses them',
    'false',
  ),
  adminToken: setting(
    adminToken,
    "The admin's token on a first start (default: generated and written to admin-token in the data folder)",
    undefined,
    true,
  ),
  secretKey: setting(
    secretKey,
    'Key that encrypts states and outputs, 32 bytes (default with SQLite: generated into the data folder)',
    undefined,
    true,
  ),
  tlsCert: setting(path, 'File with the TLS certificate chain (PEM)'),
  tlsKey: setting(path, "File with the TLS certificate's key (PEM)"),
  workers: setting(
    integer(1, 64),
    'Processes that serve on the same address; most useful with PostgreSQL',
    '1',
  ),
  log: setting(
    oneOf('silent', 'error', 'warn', 'info', 'debug'),
    'What to log, as lines of JSON: silent, error, warn, info or debug (every request)',
    'info',
  ),
  accessLog: setting(
    oneOf('off', 'slow', 'all'),
    'Which requests to log, whatever PURSER_LOG is: off, slow (see PURSER_ACCESS_LOG_SLOW_MS) or all; the lines have addresses of people',
    'off',
  ),
  accessLogSlowMs: setting(
    integer(1, 3_600_000),
    'A request is slow if it takes so many milliseconds or more, until the last byte of its answer is sent',
    '1000',
  ),
  dialect: setting(
    oneOf('documented', 'current'),
    'documented: exactly as the interface is documented; current: what go-tfe 1.111 and the tfe provider expect',
    'documented',
  ),
  edition: setting(
    oneOf('hosted', 'self-hosted'),
    'Answer like HCP Terraform (hosted) or like a release of Terraform Enterprise (self-hosted, needs PURSER_RELEASE)',
    'hosted',
  ),
  release: setting(release, 'Release of Terraform Enterprise to answer like, for example 202408-1'),
  strict: setting(
    flag,
    'Refuse attributes that do not exist in requests that give access: teams, grants, tokens and memberships. By default they are ignored, and the answer names them',
    'false',
  ),
  maskListedOutputs: setting(
    flag,
    'Also return sensitive values as null in lists of outputs and in include=outputs (default: true with the dialect current, false with documented)',
  ),
  maxConnections: setting(
    integer(16, 1_000_000),
    'Connections of clients at a time; with more, idle ones of the address that has most of them are closed',
    '10000',
  ),
  maxBodyBytes: setting(
    integer(1024, 1024 * MIB),
    'Largest body that creates a state version with its content, in bytes; larger states are uploaded by URL. Other JSON bodies have at most 1 MiB',
    String(32 * MIB),
  ),
  maxBytesInFlight: setting(
    integer(8 * MIB, 1024 * 1024 * MIB),
    'Memory for bodies, uploads and large answers that are on their way, in bytes; requests beyond it are answered 503',
    String(192 * MIB),
  ),
  maxStateBytes: setting(integer(1024, 1024 * 1024 * MIB), 'Largest state file, in bytes', String(512 * MIB)),
  inlineStateBytes: setting(
    integer(0, 64 * MIB),
    'Outputs of up to this number of bytes are readable when the upload is answered; larger ones a moment later',
    String(MIB),
  ),
  maxTeamMembers: setting(
    integer(1, 100_000),
    'Members of one team; every document of the team lists all of them',
    '5000',
  ),
  maxOrganizations: setting(
    integer(1, 100_000),
    'A user who is in this number of organizations cannot create another one',
    '100',
  ),
  organizationCreators: setting(
    oneOf('everybody', 'administrators'),
    'Who may create organizations: everybody with an account, or only the administrators of the site',
    'everybody',
  ),
  maxOrganizationBytes: setting(
    integer(1024 * 1024, Number.MAX_SAFE_INTEGER),
    'Bytes that the states of one organization take as they are stored, with old versions, outputs and unfinished uploads',
    String(100 * 1024 * MIB),
  ),
  maxWritesPerMinute: setting(
    integer(1, 100_000_000),
    'Writes of one account a minute, in each process: of a user, or of all tokens of an organization and its teams. Further ones are answered 429',
    '6000',
  ),
  maxDryRunPairs: setting(
    integer(1, 100_000_000),
    'Pairs of a user or team and a workspace or project that one dry run compares',
    '200000',
  ),
  maxDryRunChanges: setting(integer(1, 1_000_000), 'Changes that the answer to a dry run names', '1000'),
  maxMembers: setting(
    integer(1, 10_000_000),
    'Members of one organization, including invited ones',
    '100000',
  ),
  maxTeams: setting(integer(1, 10_000_000), 'Teams of one organization', '200000'),
  maxProjects: setting(integer(1, 1_000_000), 'Projects of one organization', '10000'),
  maxWorkspaces: setting(integer(1, 10_000_000), 'Workspaces of one organization', '100000'),
  maxWorkspaceTags: setting(integer(1, 10_000), 'Tags of one workspace', '100'),
  maxTags: setting(integer(1, 1_000_000), 'Tags of one organization', '10000'),
  maxTagBindings: setting(integer(1, 1_000), 'Key-value tags of one workspace or project', '100'),
  maxRemoteStateConsumers: setting(integer(1, 100_000), 'Remote state consumers of one workspace', '1000'),
  sessionIdleMinutes: setting(
    integer(5, 527_040),
    'A session that was not used for so long has ended, in minutes; organizations may demand less',
    '1440',
  ),
  sessionMinutes: setting(
    integer(1, 527_040),
    'A session ends so long after the sign-in, in minutes; organizations may demand less',
    '20160',
  ),
  maxSessions: setting(
    integer(1, 10_000),
    'Sessions of one user; a further sign-in ends the one that was used least recently',
    '100',
  ),
  maxTokens: setting(integer(1, 100_000), 'Tokens of one user, team or organization', '500'),
  stateVersionsKept: setting(
    integer(1, 1_000_000),
    'State versions kept for each workspace; older ones are deleted',
    '1000',
  ),
  deletedStateDays: setting(
    integer(1, 36_500),
    "Days after which a state version's content that was deleted softly is deleted for good",
    '30',
  ),
  auditDays: setting(integer(1, 36_500), 'Days that audit events are kept', '400'),
  refusalsKept: setting(integer(1, 1_000_000), 'Refusals (404 answers) kept for each organization', '10000'),
  refusalsKeptOfCaller: setting(
    integer(1, 1_000_000),
    'Refusals kept of one caller for each organization; all outsiders together count as one caller',
    '1000',
  ),
  refusalDays: setting(integer(1, 36_500), 'Days that refusals are kept', '7'),
  cacheBytes: setting(
    integer(0, 1024 * 1024 * MIB),
    'Memory for ready-made documents, in bytes',
    String(32 * MIB),
  ),
  drainSeconds: setting(
    integer(0, 3_600),
    'Seconds after SIGTERM during which /readyz is red and requests are still answered, so that a load balancer notices; SIGINT (Ctrl-C) and a second signal end the wait',
    '5',
  ),
  databaseWaitSeconds: setting(
    integer(0, 3_600),
    'Seconds that a start waits for a PostgreSQL that takes no connections yet',
    '30',
  ),
  uploadIdleSeconds: setting(
    integer(1, 86_400),
    'Seconds that a body or an upload may send nothing, or too little (less than 16384 bytes a second); then it ends with 408',
    '30',
  ),
} satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof settings
type WithDefault = {
  [N in SettingName]: ReturnType<(typeof settings)[N]['parse']>
}
type Optional =
  | 'metricsListen'
  | 'databaseUrl'
  | 'publicUrl'
  | 'adminToken'
  | 'secretKey'
  | 'tlsCert'
  | 'tlsKey'
  | 'release'
/** All settings, parsed. */
export type Config = Omit<WithDefault, Optional> & Partial<Pick<WithDefault, Optional>>
/** The settings of a server that is ready: the secret key has been read or generated. */
export type ServerConfig = Config & { secretKey: Buffer }

export function environmentName(name: SettingName): string {
  return `PURSER_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

export function flagName(name: SettingName): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Reads all settings. Flags win over the environment. Throws one SettingError with a line per problem. */
export function readConfig(
  flags: Partial<Record<SettingName, string>>,
  environment: NodeJS.ProcessEnv,
): Config {
  const config: Record<string, unknown> = {}
  const problems: string[] = []
  const bad = new Set<SettingName>()
  for (const [name, { parse, default: initial }] of entriesOf(settings)) {
    const given = flags[name]
    const fromEnvironment = environment[environmentName(name)]
    // Many tools set an empty variable to say "not set".
    const value = given ?? (fromEnvironment === '' ? undefined : fromEnvironment) ?? initial
    if (value === undefined) continue
    try {
      config[name] = parse(value)
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      bad.add(name)
      problems.push(`${given === undefined ? environmentName(name) : flagName(name)} ${error.message}`)
    }
  }
  problems.push(...contradictions(config, bad))
  if (problems.length > 0) throw new SettingError(problems.join('\n'))
  // Every setting was parsed, or its problem was thrown.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return config as Config
}

/**
 * Variables that begin with our prefix but are no setting. They only cause a warning, because Kubernetes sets such
 * variables for a service named purser.
 */
export function unknownVariables(environment: NodeJS.ProcessEnv): string[] {
  return Object.keys(environment).filter(
    (name) => name.startsWith('PURSER_') && !name.startsWith('PURSER_TEST_') && !knownVariables.has(name),
  )
}

/** The token of `purser import` is not a setting, because it belongs to another server. */
const knownVariables = new Set(['PURSER_IMPORT_TOKEN', ...keysOf(settings).map(environmentName)])
