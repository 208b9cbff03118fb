import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import type { Config } from '../config.ts'
import { commandName } from '../core/version.ts'
import { MANIFEST } from '../import/export-files.ts'
import { runExport } from '../import/export.ts'
import { FileSource } from '../import/file-source.ts'
import { HttpSource } from '../import/http-source.ts'
import { runImport } from '../import/import.ts'
import { importStateFiles } from '../import/import-state-files.ts'
import { openOwnServer } from '../import/own-server.ts'
import { Progress } from '../import/progress.ts'
import type { StateChoice } from '../import/records.ts'
import type { Report } from '../import/report.ts'
import type { NameFrom } from '../import/state-files.ts'
import { addressOfSource, SourceClient } from '../import/source-client.ts'
import { endInterrupted, untilInterrupted } from './interruption.ts'
import { organizationNamed } from './named.ts'
import { askUnseen, note, print, printJson, printTable } from './output.ts'

export type CopyingFlags = {
  from?: string
  token?: string
  tokenFile?: string
  insecureHttp?: true
  organization: readonly string[]
  toOrganization?: string
  states: StateChoice
  dryRun?: true
  merge?: true
  as?: string
  json?: true
}

/** Copies into the database that the settings name. */
export async function importFrom(config: Config, from: string, flags: CopyingFlags): Promise<void> {
  await copy(
    async (signal) => {
      const source = isAddress(from)
        ? new HttpSource(await sourceClient(from, flags, signal))
        : new FileSource(folderOf(from))
      using progress = new Progress(process.stderr)
      return await runImport(config, source, {
        organizations: flags.organization,
        toOrganization: flags.toOrganization,
        states: flags.states,
        as: flags.as,
        isDryRun: flags.dryRun === true,
        isMerging: flags.merge === true,
        progress,
        signal,
      })
    },
    'each object that was copied is complete. Run the same import again to copy the rest',
    flags,
  )
}

function folderOf(from: string): string {
  if (existsSync(join(from, MANIFEST))) return from
  if (existsSync(from)) {
    throw new OperatorError(
      `${from} is not an export: it has no ${MANIFEST}. An export that was interrupted has none either. ` +
        `For a folder of state files: ${commandName} import --states ${from} --organization NAME`,
    )
  }
  throw new OperatorError(
    `there is no folder ${from} (the address of a server begins with https://, as in https://tfe.example.com)`,
  )
}

export type StateFilesFlags = {
  organization: readonly string[]
  nameFrom?: NameFrom
  dryRun?: true
  as?: string
  json?: true
}

/** Copies a folder of state files into the database that the settings name. */
export function importStatesOf(
  config: Config,
  folder: string,
  { organization: names, nameFrom = 'path', dryRun, as, json }: StateFilesFlags,
): Promise<void> {
  const [organization, ...others] = names
  if (organization === undefined || others.length > 0) {
    throw new OperatorError('a folder of state files is for one organization: name it with --organization')
  }
  if (!existsSync(folder)) throw new OperatorError(`there is no folder ${folder}`)
  const work = async (signal: AbortSignal) => {
    using progress = new Progress(process.stderr)
    const options = { organization, nameFrom, isDryRun: dryRun === true, as, progress, signal }
    return await importStateFiles(config, folder, options)
  }
  return untilInterrupted('interrupted before anything was copied', async (signal) => {
    const report = await work(signal)
    if (json) printJson(report.toJson())
    else {
      printTable(report.rows())
      for (const remark of report.remarks()) note(remark)
    }
    if (report.isInterrupted) endInterrupted('interrupted; run the same import again to copy the rest')
    else if (!report.isWhole) process.exitCode = 1
  })
}

/** Writes the files of an export, from the database that the settings name or from another server. */
export async function exportTo(config: Config, folder: string, flags: CopyingFlags): Promise<void> {
  const onBegin = () => {
    if (flags.states === 'none') return
    note(`${folder} holds the states in clear, with every secret in them: protect it like the secrets`)
  }
  await copy(
    async (signal) => {
      const { organization: organizations, states, from, as } = flags
      using progress = new Progress(process.stderr)
      const { maxStateBytes } = config
      const options = { organizations, states, progress, signal, maxStateBytes, onBegin }
      if (from !== undefined) {
        if (!isAddress(from))
          throw new OperatorError('--from must be an address such as https://tfe.example.com')
        return await runExport(folder, new HttpSource(await sourceClient(from, flags, signal)), options)
      }
      await using own = await openOwnServer(config, { as })
      for (const name of organizations) await own.database.read((tx) => organizationNamed(tx, name))
      const { address, token } = own
      const client = new SourceClient({ from: address, token, isInsecureAllowed: false, signal })
      return await runExport(folder, new HttpSource(client, config.publicUrl ?? 'a Purser'), options)
    },
    `${folder} is not a complete export. Run the same command again: it begins anew in this folder`,
    flags,
  )
}

/** Copies and prints the report. */
function copy(
  work: (signal: AbortSignal) => Promise<Report>,
  advice: string,
  flags: CopyingFlags,
): Promise<void> {
  return untilInterrupted('interrupted before anything was copied', async (signal) => {
    const report = await work(signal)
    if (flags.json) printJson(report.toJson())
    else for (const line of report.lines()) print(line)
    if (report.failure !== undefined) throw new OperatorError(`${report.failure}; ${advice}`)
    if (report.isInterrupted) endInterrupted(`interrupted; ${advice}`)
    else if (report.notCopied.length > 0) process.exitCode = 1
  })
}

async function sourceClient(from: string, flags: CopyingFlags, signal: AbortSignal): Promise<SourceClient> {
  // Validates the address before asking for the token, because the question shows the address.
  addressOfSource(from)
  return new SourceClient({
    from,
    token: await tokenOf(from, flags, signal),
    isInsecureAllowed: flags.insecureHttp === true,
    signal,
  })
}

async function tokenOf(
  from: string,
  { token, tokenFile }: CopyingFlags,
  signal: AbortSignal,
): Promise<string> {
  if (token !== undefined && tokenFile !== undefined) {
    throw new OperatorError('--token and --token-file cannot be used together')
  }
  if (token !== undefined) return token
  if (tokenFile !== undefined) {
    try {
      return readFileSync(tokenFile, 'utf8').trim()
    } catch (error) {
      throw new OperatorError(`cannot read ${tokenFile}: ${reasonOf(error)}`)
    }
  }
  const given = process.env.PURSER_IMPORT_TOKEN
  if (given !== undefined && given !== '') return given
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new OperatorError("the other server's token is missing: PURSER_IMPORT_TOKEN or --token-file")
  }
  return askUnseen(`token for ${from}: `, signal)
}

function isAddress(from: string): boolean {
  return /^https?:\/\//i.test(from)
}
