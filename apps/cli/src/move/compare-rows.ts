import type { Database } from '@orders/database/connect.ts';
import { inTransaction, run } from '@orders/database/run.ts';
import { ofAccounts } from './copy-rows.ts';
import { COPIED, IGNORED, REPLICATED } from './moved-tables.ts';

/** The rows of accounts in a table. */
export interface Digest {
  table: string;
  rows: number;
  /** In hex; equal for equal rows, in whatever order they are stored. */
  hash: string;
}

/** So that both sides write values in the same way. */
const AS_TEXT = { timezone: "'UTC'", datestyle: "'ISO'", intervalstyle: "'postgres'", bytea_output: "'hex'" };

const COLUMNS = `
select quote_ident(attname) as name from pg_attribute
where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> all($2) order by attname`;

/** Rows in which a user is told by the e-mail address, as the ids can differ. */
const PEOPLE: Record<string, string> = {
  memberships: `select r.account_id, u.email, r.role, r.created_at from memberships r join users u on u.id = r.user_id`,
  review_views: `select r.account_id, u.email, r.view_id, r.name, r.query from review_views r join users u on u.id = r.user_id and u.role = 'account_holder'`,
};

/**
 * Counts and hashes the rows of accounts in each table that moves. The hash adds up hashes of the rows, each with its key, so that no table has
 * to be sorted or held in memory.
 *
 * @param onTable is called after each table.
 */
export async function digestRows(
  database: Database,
  accountIds: readonly number[],
  onTable: (table: string) => void = () => {},
): Promise<Digest[]> {
  return inTransaction(
    database,
    async (connection) => {
      const digests: Digest[] = [];
      const tables = ['accounts', ...REPLICATED, ...COPIED, ...Object.keys(PEOPLE)];
      for (const table of tables) {
        const ignored = table === 'accounts' ? ['suspended_at', 'moving_since', 'moved_to'] : (IGNORED[table] ?? []);
        const columns = await run<{ name: string }>(connection, COLUMNS, [table, ignored]);
        const rows = PEOPLE[table] ?? `select ${columns.map(({ name }) => `r.${name}`).join(', ')} from ${table} r`;
        const [digest] = await run<{ rows: number; hash: string }>(
          connection,
          `select count(*) as rows, md5(concat_ws(' ', sum(('x' || left(h, 16))::bit(64)::bigint), sum(('x' || right(h, 16))::bit(64)::bigint))) as hash
           from (select md5(moved::text) as h from (${rows} where r.${ofAccounts(accountIds)}) as moved) as hashed`,
        );
        digests.push({ table, rows: digest?.rows ?? 0, hash: digest?.hash ?? '' });
        onTable(table);
      }
      return digests;
    },
    AS_TEXT,
  );
}
