import { unknownVariables, type Config, type ServerConfig } from '../config.ts'
import { version } from '../core/version.ts'
import { nameOfDatabase } from '../database/open.ts'
import { isLoopback } from '../core/loopback.ts'
import { addressText } from '../core/listen.ts'
import { servedAddress } from './address.ts'
import { addressFlags, advisedCommand, databaseFlags, quoted } from './advised-command.ts'
import { openFolderProblem } from './data-folder.ts'
import { adminTokenFile, type Prepared } from './prepare.ts'

const dialects = {
  documented:
    'exactly as the interface is documented; for the tfe provider or go-tfe 1.111, start with PURSER_DIALECT=current',
  current:
    'as go-tfe 1.111 and the tfe provider expect it; PURSER_DIALECT=documented is exactly as documented',
} as const

const creators = {
  everybody:
    'everybody with an account may create organizations; PURSER_ORGANIZATION_CREATORS=administrators leaves that to administrators',
  administrators: 'only administrators of the site may create organizations (PURSER_ORGANIZATION_CREATORS)',
} as const

/** The lines printed when the server is ready: all details on the first start, two lines later. */
export function welcome({ config, keyFile, first }: Prepared, port: number): string[] {
  const address = servedAddress(config, port)
  const serves = `Purser ${version} serves at ${address}`
  const engine = config.databaseUrl === undefined ? 'SQLite' : 'PostgreSQL'
  if (first === undefined) {
    return [
      `${serves} (${engine}: ${nameOfDatabase(config)})`,
      `dialect ${config.dialect}: ${dialects[config.dialect]}`,
      `organizations: ${creators[config.organizationCreators]}`,
    ]
  }
  return [
    serves,
    '',
    `  data     ${engine}: ${nameOfDatabase(config)}`,
    `  key      ${keyAdvice(keyFile)}`,
    `  dialect  ${config.dialect}: ${dialects[config.dialect]}`,
    `  create   ${creators[config.organizationCreators]}`,
    `  admin    ${adminAdvice(config, first)}`,
    `  sign in  ${signInAdvice(config, port, first.link)}`,
    '',
    'Try it:',
    ...linesToTry(config, port),
  ]
}

/**
 * Where somebody sets a password, and a user name if they have no account yet. The secret is in the part of the address
 * that no browser sends.
 */
export function welcomeAddress(address: string, secret: string, isInvited = false): string {
  return `${address}/app/~/welcome${isInvited ? '?invited=true' : ''}#${secret}`
}

/** Example commands, with the flags of this start. */
function linesToTry(config: ServerConfig, port: number): string[] {
  const address = servedAddress(config, port)
  const served = { ...config, listen: { ...config.listen, port } }
  const token =
    config.adminToken === undefined ? `$(cat ${quoted(adminTokenFile(config.data))})` : '$PURSER_ADMIN_TOKEN'
  const curl = `curl -H "Authorization: Bearer ${token}"`
  const organization =
    '{"data":{"type":"organizations","attributes":{"name":"acme","email":"you@example.com"}}}'
  return [
    `  ${curl} -H "Content-Type: application/vnd.api+json" -d '${organization}' ${address}/api/v2/organizations`,
    `  ${curl} ${address}/api/v2/organizations/acme/teams`,
    `  ${advisedCommand(config, 'user create jane --email jane@example.com --token')}${sameDatabase(config)}`,
    `  ${advisedCommand(served, 'config tofu', addressFlags)}`,
  ]
}

/** The database's address is not shown, because it holds a password. */
function sameDatabase({ databaseUrl }: ServerConfig): string {
  return databaseUrl === undefined ? '' : '   (with the same PURSER_DATABASE_URL and PURSER_SECRET_KEY)'
}

/** Warnings about risky settings, one per line. */
export function warnings(
  { config, connections }: Pick<Prepared, 'config' | 'connections'>,
  environment: NodeJS.ProcessEnv,
): string[] {
  const lines = unknownVariables(environment).map(
    (name) => `warning: there is no setting ${name}; it is ignored`,
  )
  if (!isLoopback(config.listen.host) && config.tlsCert === undefined) {
    lines.push(
      `warning: ${addressText(config.listen)} can be reached from other machines without TLS, so tokens and values travel in clear; give PURSER_TLS_CERT and PURSER_TLS_KEY, or let only a TLS proxy reach it`,
    )
  }
  if (config.publicUrl?.startsWith('https:') === true && config.tlsCert === undefined && !config.trustProxy) {
    lines.push(
      'warning: behind a proxy, set PURSER_TRUST_PROXY=true and let the proxy set X-Forwarded-For; otherwise wrong passwords of anybody slow down the sign-in of everybody with a new browser',
    )
  }
  for (const problem of [openFolderProblem(config.data), connectionsProblem(config, connections)]) {
    if (problem !== undefined) lines.push(`warning: ${problem}`)
  }
  return lines
}

/** 12 for requests, one for /readyz, and 3 while states are uploaded. */
const CONNECTIONS_OF_A_PROCESS = 16

/** @param most how many connections PostgreSQL lets the role have */
export function connectionsProblem({ workers }: Pick<Config, 'workers'>, most: number): string | undefined {
  const needed = workers * CONNECTIONS_OF_A_PROCESS
  if (most >= needed) return undefined
  return `the database lets this role have ${most} connections, and a server with ${workers} ${workers === 1 ? 'process' : 'processes'} needs up to ${needed}: raise max_connections of PostgreSQL, or the connection limit of the role or of the database`
}

function keyAdvice(keyFile: string | undefined): string {
  return keyFile === undefined
    ? 'states and outputs are encrypted with PURSER_SECRET_KEY: without it nothing can read them'
    : `states and outputs are encrypted with ${keyFile}: keep a copy of it somewhere else`
}

/** A link is made only for a terminal. What is printed elsewhere is kept in logs, so it has no secrets. */
function adminAdvice(config: ServerConfig, { token, link }: NonNullable<Prepared['first']>): string {
  if (config.adminToken !== undefined) return 'the token is the one of PURSER_ADMIN_TOKEN'
  const file = adminTokenFile(config.data)
  return link === undefined
    ? `the token is in ${file} (only a terminal shows it)`
    : `token ${token} (shown this once, and kept in ${file})`
}

function signInAdvice(config: ServerConfig, port: number, link: string | undefined): string {
  if (link === undefined) {
    const served = { ...config, listen: { ...config.listen, port } }
    const command = advisedCommand(served, 'user password-link admin', [...databaseFlags, ...addressFlags])
    return `${command} prints a link that sets the admin's password${sameDatabase(config)}`
  }
  const url = welcomeAddress(servedAddress(config, port), link)
  return `${url} (sets the admin's password, once, within three days)`
}
