import type { Database } from '@orders/database/connect.ts';
import { inTransaction, run } from '@orders/database/run.ts';
import { Failure } from '../errors.ts';
import { columnsOf, copyRows, ofAccounts } from './copy-rows.ts';
import { COPIED, IGNORED, OF_ITS_SIDE, REPLICATED } from './moved-tables.ts';

/** The rows of accounts in a table. */
export interface Digest {
  table: string;
  rows: number;
  /** In hex; equal for equal rows, in whatever order they are stored. */
  hash: string;
}

/** So that both sides write values in the same way. */
const AS_TEXT = { timezone: "'UTC'", datestyle: "'ISO'", intervalstyle: "'postgres'", bytea_output: "'hex'" };

/** Rows in which a user is told by the e-mail address, as the ids can differ. */
const PEOPLE: Record<string, string> = {
  memberships: `select r.account_id, u.email, r.role, r.created_at from memberships r join users u on u.id = r.user_id`,
  review_views: `select r.account_id, u.email, r.view_id, r.name, r.query from review_views r join users u on u.id = r.user_id and u.role = 'account_holder'`,
};

/**
 * Counts and hashes the rows of accounts in each table that moves. The hash adds up hashes of the rows, each with its key, so that no table has
 * to be sorted or held in memory.
 */
export async function digestRows(database: Database, accountIds: readonly number[]): Promise<Digest[]> {
  return inTransaction(
    database,
    async (connection) => {
      const digests: Digest[] = [];
      const tables = ['accounts', ...REPLICATED, ...COPIED, ...Object.keys(PEOPLE)];
      for (const table of tables) {
        const except = table === 'accounts' ? OF_ITS_SIDE : (IGNORED[table] ?? []);
        const columns = await columnsOf(connection, table, { except, withGenerated: true });
        const rows = PEOPLE[table] ?? `select ${columns.map((name) => `r.${name}`).join(', ')} from ${table} r`;
        const [digest] = await run<{ rows: number; hash: string }>(
          connection,
          `select count(*) as rows, md5(concat_ws(' ', sum(('x' || left(h, 16))::bit(64)::bigint), sum(('x' || right(h, 16))::bit(64)::bigint))) as hash
           from (select md5(moved::text) as h from (${rows} where r.${ofAccounts(accountIds)}) as moved) as hashed`,
        );
        digests.push({ table, rows: digest?.rows ?? 0, hash: digest?.hash ?? '' });
      }
      return digests;
    },
    AS_TEXT,
  );
}

/** @throws {Failure} if tables differ after those that do were copied again. */
export async function compareRows(
  { source, target, report }: { source: Database; target: Database; report: (line: string) => void },
  accountIds: readonly number[],
): Promise<Digest[]> {
  for (let attempt = 1; ; attempt += 1) {
    const [here, there] = await Promise.all([digestRows(source, accountIds), digestRows(target, accountIds)]);
    const differing = here.filter(({ rows, hash }, at) => rows !== there[at]?.rows || hash !== there[at]?.hash);
    if (differing.length === 0) return here;
    const names = differing.map(({ table }) => table).join(', ');
    if (attempt === 3)
      throw new Failure(`The two sides differ in: ${names}. Nothing was switched: run it again, or with --undo.`);
    report(`copying again, as they differ: ${names}`);
    for (const { table } of differing)
      if (([...REPLICATED, ...COPIED] as readonly string[]).includes(table))
        await copyRows(source, target, table, ofAccounts(accountIds), { replica: true });
  }
}
