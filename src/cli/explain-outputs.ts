import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { encryptedText } from '../outputs/outputs.ts'
import { readDatabase } from '../operation/command-database.ts'
import {
  findStateVersion,
  unreadableOutputs,
  type StateVersionRow,
} from '../state-versions/state-version-store.ts'
import { findWorkspace } from '../workspaces/workspace-store.ts'
import { print, printJson } from './output.ts'

/** Prints whether the outputs of a state version can be read, and if not, why. */
export async function explainOutputs(config: Config, id: string, asJson: boolean): Promise<void> {
  const found = await readDatabase(config, async (tx) => {
    const row = await findStateVersion(tx, id)
    return row && { row, workspace: await findWorkspace(tx, row.workspace_id) }
  })
  if (found === undefined) throw new OperatorError(`there is no state version ${id}`)
  const { row, workspace } = found
  if (asJson) {
    printJson({
      id,
      serial: row.serial,
      status: row.status,
      workspace: row.workspace_id,
      'resources-processed': row.resources_processed === 1,
      'outputs-unreadable-reason': unreadableOutputs(row),
    })
    return
  }
  print(
    `The state version ${id} has the serial ${row.serial} in the workspace ${workspace?.name ?? row.workspace_id}.`,
  )
  for (const sentence of sentencesOf(row)) print(sentence)
}

function sentencesOf(row: StateVersionRow): string[] {
  if (row.status !== 'finalized') return [`It has no outputs that can be read: its status is ${row.status}.`]
  if (row.resources_processed === 0)
    return ['Its outputs are still being processed. Requests for them are 503.']
  const reason = unreadableOutputs(row)
  if (reason === 'failed') {
    return [`Its outputs could not be processed: ${row.last_failure}. Requests for them are 500.`]
  }
  if (reason === null) return [`Its outputs can be read: ${row.outputs_count}.`]
  return [
    `${encryptedText(row.id).replace(/^t/, 'T')}. Requests for them are 409.`,
    'The next state has readable outputs if the client sends json-state-outputs with it, as OpenTofu does.',
  ]
}
