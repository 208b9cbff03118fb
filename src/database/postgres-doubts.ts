import type { ClientConfig } from 'pg'
import type { PostgresClient } from './postgres-client.ts'
import { isFull, isMissingRight, isSharedSession } from './postgres-errors.ts'
import { rightsProblem, sharedSessionsProblem } from './postgres-fitness.ts'

/** Examines the suspicion that an error of a request has raised. Returns what the operator has to repair, or throws. */
export type Doubt = (client: PostgresClient, config: ClientConfig) => Promise<string | undefined>

/** Undefined if the small write of a probe shows the cause of the error, too. */
export function doubtOf(error: unknown): Doubt | undefined {
  if (isFull(error)) return takeSpace
  if (isMissingRight(error)) return anyRightsProblem
  return isSharedSession(error) ? sharedSessionsProblem : undefined
}

function anyRightsProblem(client: PostgresClient): Promise<string | undefined> {
  return rightsProblem(client, 'all')
}

/**
 * A full disk often has room for a small row, in a page that exists. So this lets a table grow, and undoes the rows. It
 * inserts until the file itself has grown, because earlier looks may have left free pages. The rows are too short to be
 * compressed.
 */
const TAKE_SPACE = `begin; set local statement_timeout = '800ms';
do $$ declare
  size bigint := pg_relation_size('meta');
  look text := 'probe-' || txid_current() || '-';
begin
  for number in 1 .. 100000 loop
    insert into meta (key, value) values (look || number, repeat('x', 1800));
    exit when pg_relation_size('meta') >= size + 262144;
  end loop;
end $$; rollback`

async function takeSpace(client: PostgresClient): Promise<undefined> {
  await client.query(TAKE_SPACE)
}
