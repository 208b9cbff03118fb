import { isFull } from './postgres-errors.ts'
import type { PostgresClient } from './postgres-client.ts'

/** Examines what an error of a request has put in doubt. Throws the reason if the doubt is right. */
export type Doubt = (client: PostgresClient) => Promise<void>

/** Undefined if the small write of a probe shows the cause of the error, too. */
export function doubtOf(error: unknown): Doubt | undefined {
  return isFull(error) ? takeSpace : undefined
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

async function takeSpace(client: PostgresClient): Promise<void> {
  await client.query(TAKE_SPACE)
}
