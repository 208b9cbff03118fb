import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { refusalResource } from '../refusals/refusal-document.ts'
import { findRefusal, namesIn, type RefusalRow } from '../refusals/refusal-store.ts'
import { grantsOf, nameOfCaller, sentencesOf } from '../refusals/refusal-text.ts'
import { FLUSH_EVERY_MS } from '../refusals/refusals.ts'
import { REQUESTS_KEPT } from '../refusals/waiting-refusals.ts'
import { advisedCommand } from '../operation/advised-command.ts'
import { readDatabase } from '../operation/command-database.ts'
import { print, printJson } from './output.ts'

/** Prints everything about a refusal. Someone who can open the database may see it all. */
export async function explain(config: Config, requestId: string, asJson: boolean): Promise<void> {
  const found = await readDatabase(config, async (tx) => {
    const row = await findRefusal(tx, requestId)
    return row && { row, nameOf: await namesIn(tx, grantsOf(row)) }
  })
  if (found === undefined) throw new OperatorError(unknown(requestId, config))
  const { row, nameOf } = found
  if (asJson) {
    printJson({
      ...refusalResource(row, { namesOutsiders: true, nameOf }).attributes,
      organization: row.organization_name,
    })
    return
  }
  const inLines = (ways: readonly string[]) => ways.map((way) => `\n  - ${way}`).join('')
  for (const sentence of sentencesOf(row, nameOfCaller(row), inLines)) print(sentence)
  if (row.organization_name === null) return
  print(`The refusal belongs to the organization ${row.organization_name}.`)
  const command = accessCommandOf(row, config)
  if (command !== undefined) print(`To print the caller's access today, with its grants: ${command}`)
}

/** The command that shows the caller's access to the place. Undefined if no team access would have helped. */
function accessCommandOf(row: RefusalRow, config: Config): string | undefined {
  const place = grantsOf(row)
    .flatMap((needed) => (needed.grant === 'team-access' ? needed.on : []))
    .find(({ id }) => id !== null)
  if (place === undefined || row.caller_type === 'organizations') return undefined
  const whose = `--${row.caller_type === 'users' ? 'user' : 'team'} ${row.caller_id}`
  const where = `--${place.type === 'workspaces' ? 'workspace' : 'project'} ${place.id}`
  return advisedCommand(config, `access --organization ${row.organization_name} ${whose} ${where}`)
}

function unknown(requestId: string, { refusalDays, refusalsKept }: Config): string {
  return `there is no refusal with the request id ${JSON.stringify(requestId)}: a server stores the 404 answers to requests with a valid token, after ${FLUSH_EVERY_MS / 1000} s at the latest. It keeps them for ${refusalDays} days, the newest ${refusalsKept} of each organization, and of equal ones the newest ${REQUESTS_KEPT} ids`
}
