import type { AccountRateLimit } from '@orders/domain/rate-limit.ts';
import { type Connection, execute, run } from '../run.ts';

export interface Account {
  account_id: number;
  name: string;
  state: 'active' | 'suspended';
  signing_enabled: boolean;
  /** Whether only signed deliveries may send and cancel orders. */
  signed_only: boolean;
  /** Whether its users need a second factor. */
  second_factor_required: boolean;
  rate_limit: AccountRateLimit;
  /** Whether a changed delivery of an order in review is only shown, or holds the order until a decision. */
  resends: 'ignore' | 'hold';
  created_at: Date;
  suspended_at: Date | null;
  /** The account whose tests this one takes; null for all others. */
  test_of: number | null;
  /** The base URL of intake of the installation to which it was moved; null for all that are here. */
  moved_to: string | null;
}

/** SQL: the `AccountRateLimit` of the account row `a`. */
export const RATE_LIMIT = `
case when a.rate_unlimited then '"none"'::jsonb
     when a.rate_requests is not null then jsonb_build_object('requests', a.rate_requests, 'seconds', a.rate_seconds) end`;

/** SQL: the columns of an `Account`, from `accounts a`. */
export const ACCOUNT_COLUMNS = `
  a.account_id, a.name, a.signed_only, a.second_factor_required, a.created_at, a.suspended_at, a.test_of, a.moved_to,
  case when a.suspended_at is null then 'active' else 'suspended' end as state,
  exists (
    select from signing_secrets s where s.account_id = a.account_id and (s.expires_at is null or s.expires_at > now())
  ) as signing_enabled,
  ${RATE_LIMIT} as rate_limit, case when a.hold_changed_deliveries then 'hold' else 'ignore' end as resends`;

const SELECT = `select ${ACCOUNT_COLUMNS} from accounts a`;

/** Creates an account; names need not be unique. */
export async function createAccount(connection: Connection, name: string): Promise<Account> {
  const insert = 'insert into accounts (name) values ($1) returning account_id';
  const [created] = await run<{ account_id: number }>(connection, insert, [name]);
  return (await findAccount(connection, created?.account_id ?? 0)) as Account;
}

/** All accounts, oldest first. */
export async function listAccounts(connection: Connection): Promise<Account[]> {
  return run<Account>(connection, `${SELECT} order by a.account_id`);
}

/** The account of this id, or null. */
export async function findAccount(connection: Connection, accountId: number): Promise<Account | null> {
  const [account] = await run<Account>(connection, `${SELECT} where a.account_id = $1`, [accountId]);
  return account ?? null;
}

/**
 * Finds and locks an account until the end of the transaction, so that its state does not change, and concurrent changes of its keys and
 * secrets are serialized.
 */
export async function lockAccount(connection: Connection, accountId: number): Promise<Account | null> {
  await run(connection, 'select from accounts where account_id = $1 for update', [accountId]);
  return findAccount(connection, accountId);
}

/** Accounts of exactly this name. */
export async function findAccountsByName(connection: Connection, name: string): Promise<Account[]> {
  return run<Account>(connection, `${SELECT} where a.name = $1 order by a.account_id`, [name]);
}

/** Whether an account is being moved to another installation, or was. */
export async function isMoving(connection: Connection, accountId: number): Promise<boolean> {
  const moving = 'select from accounts where account_id = $1 and moving_since is not null';
  return (await run(connection, moving, [accountId])).length > 0;
}

/**
 * Suspends or resumes an account and its test account, which is not resumed alone; effective in intake within 5 seconds. Receipts accepted
 * before are still processed. An account that is being moved, or was, stays as it is.
 */
export async function setSuspended(connection: Connection, accountId: number, suspended: boolean): Promise<void> {
  await execute(
    connection,
    `update accounts set suspended_at = case when $2 then coalesce(suspended_at, now()) end
     where $1 in (account_id, test_of) and moving_since is null
       and ($2 or test_of is null or test_of = $1
            or not exists (select from accounts live where live.account_id = accounts.test_of and live.suspended_at is not null))`,
    [accountId, suspended],
  );
}

/** Sets an account's rate limit, effective in intake within 5 seconds. */
export async function setRateLimit(connection: Connection, accountId: number, limit: AccountRateLimit): Promise<void> {
  const own = limit === 'none' ? null : limit;
  await execute(
    connection,
    'update accounts set rate_requests = $2, rate_seconds = $3, rate_unlimited = $4 where account_id = $1',
    [accountId, own?.requests, own?.seconds, limit === 'none'],
  );
}

/** Sets whether a changed delivery holds an order in review until a decision. */
export async function setHoldChangedDeliveries(
  connection: Connection,
  accountId: number,
  hold: boolean,
): Promise<void> {
  await execute(connection, 'update accounts set hold_changed_deliveries = $2 where account_id = $1', [
    accountId,
    hold,
  ]);
}

/** Sets whether an account accepts signed deliveries only, effective in intake within 5 seconds. Needs signing to be enabled. */
export async function setSignedOnly(connection: Connection, accountId: number, signedOnly: boolean): Promise<void> {
  await execute(connection, 'update accounts set signed_only = $2 where account_id = $1', [accountId, signedOnly]);
}
