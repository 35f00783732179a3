import type { AccountRateLimit } from '@orders/domain/rate-limit.ts';
import type { Knex } from 'knex';

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
  /** Whether a resend with other content of an order in review is only shown, or holds the order until a decision. */
  resends: 'ignore' | 'hold';
  created_at: Date;
  suspended_at: Date | null;
}

/** SQL: the `AccountRateLimit` of the account row `a`. */
export const RATE_LIMIT = `
case when a.rate_unlimited then '"none"'::jsonb
     when a.rate_requests is not null then jsonb_build_object('requests', a.rate_requests, 'seconds', a.rate_seconds) end`;

/** Query for all accounts by id, for callers to narrow. */
export function selectAccounts(db: Knex) {
  return db('accounts as a')
    .select<Account[]>(
      'a.account_id',
      'a.name',
      'a.signed_only',
      'a.second_factor_required',
      'a.created_at',
      'a.suspended_at',
    )
    .select(db.raw("case when a.suspended_at is null then 'active' else 'suspended' end as state"))
    .select(
      db.raw(
        'exists (select 1 from signing_secrets s where s.account_id = a.account_id and (s.expires_at is null or s.expires_at > now())) as signing_enabled',
      ),
    )
    .select(db.raw(`${RATE_LIMIT} as rate_limit`))
    .select(db.raw("case when a.hold_resends then 'hold' else 'ignore' end as resends"))
    .orderBy('a.account_id');
}

/** Creates an account; names need not be unique. */
export async function createAccount(db: Knex, name: string): Promise<Account> {
  const [{ account_id }] = await db('accounts').insert({ name }).returning('account_id');
  return (await findAccount(db, account_id)) as Account;
}

/** All accounts, oldest first. */
export async function listAccounts(db: Knex): Promise<Account[]> {
  return selectAccounts(db);
}

/** The account of this id, or null. */
export async function findAccount(db: Knex, accountId: number): Promise<Account | null> {
  const [account] = await selectAccounts(db).where('a.account_id', accountId);
  return account ?? null;
}

/**
 * Finds and locks an account until the end of the transaction, so that its state does not change, and concurrent changes of its keys and
 * secrets are serialized.
 */
export async function lockAccount(trx: Knex, accountId: number): Promise<Account | null> {
  await trx('accounts').where({ account_id: accountId }).forUpdate().select('account_id');
  return findAccount(trx, accountId);
}

/** Accounts of exactly this name. */
export async function findAccountsByName(db: Knex, name: string): Promise<Account[]> {
  return selectAccounts(db).where('a.name', name);
}

/** Suspends or resumes an account, effective in intake within 5 seconds. Receipts accepted before are still processed. */
export async function setSuspended(db: Knex, accountId: number, suspended: boolean): Promise<void> {
  await db('accounts')
    .where({ account_id: accountId })
    .update({ suspended_at: suspended ? db.raw('coalesce(suspended_at, now())') : null });
}

/** Sets an account's rate limit, effective in intake within 5 seconds. */
export async function setRateLimit(db: Knex, accountId: number, limit: AccountRateLimit): Promise<void> {
  const own = limit === 'none' ? null : limit;
  await db('accounts')
    .where({ account_id: accountId })
    .update({
      rate_requests: own?.requests ?? null,
      rate_seconds: own?.seconds ?? null,
      rate_unlimited: limit === 'none',
    });
}

/** Sets whether a resend with other content holds an order in review until a decision. */
export async function setHoldResends(db: Knex, accountId: number, hold: boolean): Promise<void> {
  await db('accounts').where({ account_id: accountId }).update({ hold_resends: hold });
}

/** Sets whether an account accepts signed deliveries only, effective in intake within 5 seconds. Needs signing to be enabled. */
export async function setSignedOnly(db: Knex, accountId: number, signedOnly: boolean): Promise<void> {
  await db('accounts').where({ account_id: accountId }).update({ signed_only: signedOnly });
}
