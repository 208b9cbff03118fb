import type { Actor } from './actor.ts'

/** In place of the id of its token, which is in no table. */
export const COMMAND_LINE_TOKEN = 'command-line'

/**
 * The caller behind a server that the command line starts for itself. The token is in no database: it exists only in
 * the process that generated it.
 */
export type Operator = {
  /** The hash of the token, see hashToken. */
  readonly tokenHash: string
  readonly actor: Actor
  /** The human at the command line, as their system names them: audit events have it beside the actor. */
  readonly systemUser: string
}
