import type { Config } from '../config.ts'
import { invalid, type AppError } from '../core/errors.ts'
import type { Database, Transaction } from '../database/database.ts'
import { bytesOfOrganization } from './state-bytes-store.ts'

type Limited = {
  readonly tx: Transaction
  readonly deps: { readonly config: Pick<Config, 'maxOrganizationBytes'> }
}

/** Throws 422 if the organization has as many bytes as it may have, before more of them arrive. */
export async function requireRoom({ tx, deps: { config } }: Limited, organizationId: string): Promise<void> {
  const bytes = await bytesOfOrganization(tx, organizationId)
  if (bytes >= config.maxOrganizationBytes) throw tooManyBytes(config)
}

/** Throws 422 if what this transaction has written is too much. It has the lock of the organization. */
export async function requireFit({ tx, deps: { config } }: Limited, organizationId: string): Promise<void> {
  const bytes = await bytesOfOrganization(tx, organizationId)
  if (bytes > config.maxOrganizationBytes) throw tooManyBytes(config)
}

const LOOK_EVERY_BYTES = 16 * 1024 * 1024

/** Passes bytes on while there is room, so that an upload that will be refused stores little more than there is room for. */
export function whileRoom(
  deps: Limited['deps'] & { readonly database: Database },
  organizationId: string,
  push: (bytes: Uint8Array) => Promise<void>,
): (bytes: Uint8Array) => Promise<void> {
  let unseen = 0
  return async (bytes) => {
    unseen += bytes.length
    if (unseen >= LOOK_EVERY_BYTES) {
      unseen = 0
      await deps.database.read((tx) => requireRoom({ tx, deps }, organizationId))
    }
    await push(bytes)
  }
}

/** 422 and not 507: the CLIs repeat what is answered with 5xx for minutes. */
function tooManyBytes({ maxOrganizationBytes }: Pick<Config, 'maxOrganizationBytes'>): AppError {
  return invalid(
    `the states of an organization may take at most ${maxOrganizationBytes} bytes (PURSER_MAX_ORGANIZATION_BYTES): delete workspaces or old states for good, or ask whoever runs this server for more`,
  )
}
