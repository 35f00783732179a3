import { createApiKey, hashApiKey, Problem } from '@orders/domain';
import type { Knex } from 'knex';
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
}

/** A new key; its plain text is available only here. */
export interface NewApiKey extends ApiKey {
  key: string;
}

const COLUMNS = ['key_id', 'account_id', 'name', 'last_four', 'created_at', 'expires_at', 'revoked_at', 'last_used_at'];
const STATE = `case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'active' end as state`;

function selectKeys(db: Knex): Knex.QueryBuilder<ApiKey, ApiKey[]> {
  return db('api_keys').select(COLUMNS).select(db.raw(STATE)).orderBy('key_id');
}

const LIVE = 'revoked_at is null and (expires_at is null or expires_at > now())';
const MAX_LIVE_KEYS = 100;
/** All live keys, and the newest of the others. */
const MAX_LISTED = 200;

/**
 * Creates a key and returns it with its plain text, which is not stored.
 *
 * @throws {Problem} `too_many_keys` when the account has 100 live keys.
 */
export async function createKey(db: Knex, accountId: number, name: string): Promise<NewApiKey> {
  return db.transaction(async (trx) => {
    // Serializes concurrent calls, so that the count is correct.
    await lockAccount(trx, accountId);
    const [live] = await trx('api_keys').where({ account_id: accountId }).whereRaw(LIVE).count();
    if (Number(live?.count) >= MAX_LIVE_KEYS) throw new Problem('too_many_keys');
    const key = createApiKey();
    const row = { account_id: accountId, name, key_hash: hashApiKey(key), last_four: key.slice(-4) };
    const [{ key_id }] = await trx('api_keys').insert(row).returning('key_id');
    return { ...((await findKey(trx, key_id)) as ApiKey), key };
  });
}

/** The keys of an account, oldest first, without plain texts: all live keys and the newest of the others, 200 in total. */
export async function listKeys(db: Knex, accountId: number): Promise<ApiKey[]> {
  const listed = db('api_keys')
    .where({ account_id: accountId })
    .orderByRaw(`(${LIVE}) desc, key_id desc`)
    .limit(MAX_LISTED)
    .select('key_id');
  return selectKeys(db).where({ account_id: accountId }).whereIn('key_id', listed);
}

/** The key with this id without its plain text, or null; with `accountId`, also null for another account's key. */
export async function findKey(db: Knex, keyId: number, accountId?: number): Promise<ApiKey | null> {
  const [key] = await selectKeys(db).where(only(keyId, accountId));
  return key ?? null;
}

function only(keyId: number, accountId: number | undefined) {
  return accountId === undefined ? { key_id: keyId } : { account_id: accountId, key_id: keyId };
}

/**
 * Creates a new key with the same name. The old key works for `graceMs` more milliseconds, unless it expires sooner.
 *
 * @param accountId as in `findKey`.
 * @returns null when the old key is unknown or not active.
 * @throws {Problem} `too_many_keys`, as `createKey`; a key that is replaced without grace does not count.
 */
export async function replaceKey(
  db: Knex,
  keyId: number,
  graceMs: number,
  accountId?: number,
): Promise<NewApiKey | null> {
  return db.transaction(async (trx) => {
    // Serializes concurrent replacements and revocations.
    await trx('api_keys').where(only(keyId, accountId)).forUpdate().select('key_id');
    const old = await findKey(trx, keyId, accountId);
    if (old?.state !== 'active') return null;
    const end = trx.raw("least(coalesce(expires_at, 'infinity'), now() + ? * interval '1 ms')", [graceMs]);
    await trx('api_keys').where({ account_id: old.account_id, key_id: keyId }).update({ expires_at: end });
    return createKey(trx, old.account_id, old.name);
  });
}

/**
 * Revokes a key; it stops working everywhere within 5 seconds. Idempotent.
 *
 * @param accountId as in `findKey`.
 * @returns the key, or null when there is none with this id.
 */
export async function revokeKey(db: Knex, keyId: number, accountId?: number): Promise<ApiKey | null> {
  await db('api_keys').where(only(keyId, accountId)).whereNull('revoked_at').update({ revoked_at: db.fn.now() });
  return findKey(db, keyId, accountId);
}
