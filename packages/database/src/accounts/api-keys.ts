import { createApiKey, hashApiKey, KEY_SCOPES, type KeyScope } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';
import { readInstallation } from '../installation.ts';
import { type Connection, execute, inTransaction, matching, run } from '../run.ts';
import { lockAccount } from './accounts.ts';

export interface ApiKey {
  key_id: number;
  account_id: number;
  name: string;
  last_four: string;
  state: 'active' | 'expired' | 'revoked';
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  scopes: KeyScope[];
  /** Addresses and ranges (CIDR) from which it works; empty for all. */
  addresses: string[];
  /** The chosen lifetime; null for a key without one, and for a replaced key. */
  lifetime_seconds: number | null;
  /** Whether its chosen lifetime ends within 14 days. */
  expires_soon: boolean;
}

/** What a key may do, from where and for how long; by default everything, from everywhere, for good. */
export type KeyAccess = Partial<Pick<ApiKey, 'scopes' | 'addresses' | 'lifetime_seconds'>>;

/** A new key; its plain text is available only here. */
export interface NewApiKey extends ApiKey {
  key: string;
}

const LIVE = 'revoked_at is null and (expires_at is null or expires_at > now())';

const SELECT = `
select key_id, account_id, name, last_four, created_at, expires_at, revoked_at, last_used_at, scopes, addresses, lifetime_seconds,
       case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'active' end as state,
       ${LIVE} and lifetime_seconds is not null and expires_at < now() + interval '14 days' as expires_soon
from api_keys`;

const MAX_LIVE_KEYS = 100;
/** All live keys, and the newest of the others. */
const MAX_LISTED = 200;

/**
 * Creates a key and returns it with its plain text, which is not stored.
 *
 * @throws {Problem} `too_many_keys` when the account has 100 live keys.
 */
export async function createKey(
  connection: Connection,
  accountId: number,
  name: string,
  { scopes = [...KEY_SCOPES], addresses = [], lifetime_seconds: lifetime = null }: KeyAccess = {},
): Promise<NewApiKey> {
  return inTransaction(connection, async (transaction) => {
    // Serializes concurrent calls, so that the count is correct.
    const account = await lockAccount(transaction, accountId);
    const count = `select count(*) from api_keys where account_id = $1 and ${LIVE}`;
    const [live] = await run<{ count: number }>(transaction, count, [accountId]);
    if ((live?.count ?? 0) >= MAX_LIVE_KEYS) throw new Problem('too_many_keys');
    const key = createApiKey({
      isTest: account?.test_of != null,
      installation: await readInstallation(transaction),
    });
    const [created] = await run<{ key_id: number }>(
      transaction,
      `insert into api_keys (account_id, name, key_hash, last_four, scopes, addresses, lifetime_seconds, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7::int, now() + $7::int * interval '1 s') returning key_id`,
      [accountId, name, hashApiKey(key), key.slice(-4), scopes, addresses, lifetime],
    );
    return { ...((await findKey(transaction, created?.key_id ?? 0)) as ApiKey), key };
  });
}

/** The keys of an account, oldest first, without plain texts: all live keys and the newest of the others, 200 in total. */
export async function listKeys(connection: Connection, accountId: number): Promise<ApiKey[]> {
  return run<ApiKey>(
    connection,
    `${SELECT} where account_id = $1 and key_id in (
       select key_id from api_keys where account_id = $1 order by (${LIVE}) desc, key_id desc limit ${MAX_LISTED}
     ) order by key_id`,
    [accountId],
  );
}

/** SQL: the key with this id; with an account, only of that account. */
const oneKey = (values: unknown[], keyId: number, accountId: number | undefined) =>
  matching(values, { 'account_id = ?': accountId, 'key_id = ?': keyId });

/** The key with this id without its plain text, or null; with `accountId`, also null for another account's key. */
export async function findKey(connection: Connection, keyId: number, accountId?: number): Promise<ApiKey | null> {
  const values: unknown[] = [];
  const [key] = await run<ApiKey>(connection, `${SELECT} where ${oneKey(values, keyId, accountId)}`, values);
  return key ?? null;
}

/** Whether a key was replaced and still works for its grace period. */
export function isReplaced({ expires_at, lifetime_seconds }: Pick<ApiKey, 'expires_at' | 'lifetime_seconds'>): boolean {
  return expires_at !== null && lifetime_seconds === null;
}

/** The key, locked until the end of the transaction; null if it is unknown, not active, or already replaced. */
async function lockCurrentKey(
  connection: Connection,
  keyId: number,
  accountId: number | undefined,
): Promise<ApiKey | null> {
  // Serializes concurrent replacements and changes.
  const values: unknown[] = [];
  await run(connection, `select from api_keys where ${oneKey(values, keyId, accountId)} for update`, values);
  const key = await findKey(connection, keyId, accountId);
  return key?.state === 'active' && !isReplaced(key) ? key : null;
}

/**
 * Changes what a key may do, from where, and for how long from now; what `access` does not name stays. Effective in intake within 5 seconds.
 *
 * @param accountId as in `findKey`.
 * @returns null when the key is unknown, not active, or replaced.
 */
export async function updateKey(
  connection: Connection,
  keyId: number,
  { scopes, addresses, lifetime_seconds: lifetime }: KeyAccess,
  accountId?: number,
): Promise<ApiKey | null> {
  return inTransaction(connection, async (transaction) => {
    const key = await lockCurrentKey(transaction, keyId, accountId);
    if (!key) return null;
    await execute(
      transaction,
      `update api_keys
       set scopes = coalesce($3, scopes), addresses = coalesce($4, addresses),
           lifetime_seconds = case when $5 then $6::int else lifetime_seconds end,
           expires_at = case when $5 then now() + $6::int * interval '1 s' else expires_at end
       where account_id = $1 and key_id = $2`,
      [key.account_id, keyId, scopes, addresses, lifetime !== undefined, lifetime],
    );
    return findKey(transaction, keyId);
  });
}

/** For the audit trail: how a key differs from one that may do everything, from everywhere, for good. */
export function describeAccess({ scopes, addresses, lifetime_seconds, expires_at }: ApiKey): object {
  return {
    ...(scopes.length < KEY_SCOPES.length && { scopes }),
    ...(addresses.length > 0 && { addresses }),
    ...(lifetime_seconds !== null && { expires_at }),
  };
}

/**
 * Creates a new key with the same name, scopes and addresses. If the old key has a lifetime, the new one gets the same, from now on. The
 * old key works for `graceMs` more milliseconds, unless it expires sooner.
 *
 * @param accountId as in `findKey`.
 * @returns null when the old key is unknown, not active, or already replaced.
 * @throws {Problem} `too_many_keys`, as `createKey`; a key that is replaced without grace does not count.
 */
export async function replaceKey(
  connection: Connection,
  keyId: number,
  graceMs: number,
  accountId?: number,
): Promise<NewApiKey | null> {
  return inTransaction(connection, async (transaction) => {
    const old = await lockCurrentKey(transaction, keyId, accountId);
    if (!old) return null;
    await execute(
      transaction,
      `update api_keys
       set expires_at = least(coalesce(expires_at, 'infinity'), now() + $3 * interval '1 ms'), lifetime_seconds = null
       where account_id = $1 and key_id = $2`,
      [old.account_id, keyId, graceMs],
    );
    const { scopes, addresses, lifetime_seconds } = old;
    return createKey(transaction, old.account_id, old.name, { scopes, addresses, lifetime_seconds });
  });
}

/**
 * Revokes a key; it stops working everywhere within 5 seconds. Idempotent.
 *
 * @param accountId as in `findKey`.
 * @returns the key, or null when there is none with this id.
 */
export async function revokeKey(connection: Connection, keyId: number, accountId?: number): Promise<ApiKey | null> {
  const values: unknown[] = [];
  const revoke = `update api_keys set revoked_at = now() where ${oneKey(values, keyId, accountId)} and revoked_at is null`;
  await execute(connection, revoke, values);
  return findKey(connection, keyId, accountId);
}
