import type { Database } from '@orders/database/connect.ts';
import { type Connection, execute, inTransaction, run } from '@orders/database/run.ts';
import { Failure } from '../errors.ts';
import { COPIED, OF_ITS_SIDE, OF_PEOPLE, REPLICATED, SEARCH_TERMS } from './moved-tables.ts';

/** Rows that are in memory at once; a row of bodies can have a mebibyte. */
const CHUNK = 200;

/** The columns of a table, quoted and by name; without generated ones unless `withGenerated`. */
export async function columnsOf(
  connection: Connection,
  table: string,
  { except = [], withGenerated = false }: { except?: readonly string[]; withGenerated?: boolean } = {},
): Promise<string[]> {
  const columns = await run<{ name: string }>(
    connection,
    `select quote_ident(attname) as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> all($2) and ($3 or attgenerated = '')
     order by attname`,
    [table, except, withGenerated],
  );
  return columns.map(({ name }) => name);
}

/**
 * Replaces the rows of a table that meet a condition by those of another database, in one transaction.
 *
 * @param condition SQL without parameters.
 * @param options `replica`: run no triggers, which takes a superuser. `add`: remove nothing, and skip what is there.
 */
export async function copyRows(
  source: Database,
  target: Database,
  table: string,
  condition: string,
  { replica = false, add = false } = {},
): Promise<void> {
  await inTransaction(
    target,
    async (into) => {
      if (!add) await execute(into, `delete from ${table} where ${condition}`);
      const columns = (await columnsOf(into, table)).join(', ');
      const insert = `insert into ${table} (${columns}) overriding system value
        select ${columns} from json_populate_recordset(null::${table}, $1::json) ${add ? 'on conflict do nothing' : ''}`;
      await inTransaction(source, async (from) => {
        await execute(
          from,
          `declare moved no scroll cursor for select row_to_json(r)::text as row from (select ${columns} from ${table} where ${condition}) as r`,
        );
        for (;;) {
          const rows = await run<{ row: string }>(from, `fetch ${CHUNK} from moved`);
          if (rows.length > 0) await execute(into, insert, [`[${rows.map(({ row }) => row).join(',')}]`]);
          if (rows.length < CHUNK) break;
        }
      });
    },
    replica ? { session_replication_role: 'replica' } : {},
  );
}

/** SQL: whether a row is of one of these accounts. */
export const ofAccounts = (accountIds: readonly number[]): string => `account_id in (${accountIds.join(', ')})`;

const OF_USER = ['user_credentials', 'user_second_factors', 'user_passkeys'] as const;

/** The users of accounts, without operators, whose views stay, and those of the same e-mail address, or else the same id, in the other installation. */
async function matchUsers(source: Connection, target: Connection, accountIds: readonly number[]) {
  const tables = OF_PEOPLE.map((table) => `select user_id from ${table} where ${ofAccounts(accountIds)}`);
  const users = await run<{ id: string; email: string }>(
    source,
    `select id, email from users where role = 'account_holder' and id in (${tables.join(' union ')})`,
  );
  const there = await run<{ id: string; email: string; role: string }>(
    target,
    'select id, email, role from users where email = any($1) or id = any($2)',
    [users.map(({ email }) => email), users.map(({ id }) => id)],
  );
  return users.map(({ id, email }) => {
    const match = there.find((user) => user.email === email) ?? there.find((user) => user.id === id);
    if (match?.role === 'operator')
      throw new Failure(`${email} is a member here and an operator there: remove the member, or use another address.`);
    return { id, there: match?.id ?? null };
  });
}

/** @throws {Failure} if a member is an operator in the other installation. */
export async function checkUsers(source: Connection, target: Connection, accountIds: readonly number[]): Promise<void> {
  await matchUsers(source, target, accountIds);
}

/**
 * Copies memberships and saved views, and the users that the other installation lacks, with what they sign in with. Sessions stay.
 *
 * @param remember is called with the ids of these users before they are copied.
 * @throws {Failure} as `checkUsers`.
 */
export async function copyPeople(
  source: Database,
  target: Database,
  accountIds: readonly number[],
  remember: (userIds: string[]) => Promise<void>,
): Promise<void> {
  const users = await matchUsers(source, target, accountIds);
  const missing = users.flatMap((user) => (user.there === null ? [user.id] : []));
  if (missing.length > 0) {
    await remember(missing);
    const ids = missing.map((id) => `'${id.replaceAll("'", "''")}'`).join(', ');
    await copyRows(source, target, 'users', `id in (${ids})`, { add: true });
    for (const table of OF_USER) await copyRows(source, target, table, `user_id in (${ids})`, { add: true });
  }
  const idThere = new Map(users.map((user) => [user.id, user.there ?? user.id]));
  await inTransaction(target, async (into) => {
    for (const table of OF_PEOPLE) {
      const rows = await run<{ row: { user_id: string } }>(
        source,
        `select row_to_json(t) as row from ${table} as t where ${ofAccounts(accountIds)}`,
      );
      const columns = (await columnsOf(into, table)).join(', ');
      await execute(into, `delete from ${table} where ${ofAccounts(accountIds)}`);
      await execute(
        into,
        `insert into ${table} (${columns}) overriding system value select ${columns} from json_populate_recordset(null::${table}, $1::json)`,
        [
          JSON.stringify(
            rows.flatMap(({ row }) =>
              idThere.has(row.user_id) ? [{ ...row, user_id: idThere.get(row.user_id) }] : [],
            ),
          ),
        ],
      );
    }
  });
}

/** Makes the accounts in the other installation, or sets them to what they are here; closed in any case. */
export async function copyAccounts(source: Database, target: Database, accountIds: readonly number[]): Promise<void> {
  const names = await columnsOf(target, 'accounts', { except: ['account_id', ...OF_ITS_SIDE] });
  const [rows] = await run<{ rows: string }>(
    source,
    `select json_agg(a order by account_id)::text as rows from accounts a where ${ofAccounts(accountIds)}`,
  );
  await execute(
    target,
    `insert into accounts as a (account_id, suspended_at, moving_since, ${names.join(', ')}) overriding system value
     select account_id, coalesce(suspended_at, now()), coalesce(moving_since, now()), ${names.join(', ')}
     from json_populate_recordset(null::accounts, $1::json)
     on conflict (account_id) do update set suspended_at = excluded.suspended_at, moving_since = excluded.moving_since,
       ${names.map((name) => `${name} = excluded.${name}`).join(', ')} where a.moving_since is not null`,
    [rows?.rows],
  );
}

/** Removes what was copied, but for what belongs to no account. @throws {Failure} if an account is open there. */
export async function removeCopied(
  target: Database,
  { account_ids, user_ids }: { account_ids: readonly number[]; user_ids: readonly string[] },
): Promise<void> {
  await inTransaction(target, async (transaction) => {
    const open = `select from accounts where ${ofAccounts(account_ids)} and moving_since is null for update`;
    if ((await run(transaction, open)).length > 0) throw new Failure('The account is open in the other installation.');
    for (const table of [...REPLICATED, ...COPIED, ...OF_PEOPLE, ...SEARCH_TERMS])
      await execute(transaction, `delete from ${table} where ${ofAccounts(account_ids)}`);
    await execute(transaction, `delete from accounts where ${ofAccounts(account_ids)}`);
    // Somebody may become a member of another account at this moment, which locks the user too.
    await run(transaction, 'select from users where id = any($1) order by id for update', [user_ids]);
    await execute(
      transaction,
      'delete from users u where id = any($1) and not exists (select from memberships m where m.user_id = u.id)',
      [user_ids],
    );
  });
}
