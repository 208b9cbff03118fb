import type { Actor } from './actor.ts'

/**
 * Whoever acts through a server of the command line's own: his token is in no database, and ends with the process that
 * made it up.
 */
export type Operator = {
  /** See hashToken. */
  readonly tokenHash: string
  readonly actor: Actor
}
