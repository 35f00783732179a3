import { createApiKey, hashApiKey, KEY_SCOPES, type KeyScope } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';
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

const COLUMNS = [
  'key_id',
  'account_id',
  'name',
  'last_four',
  'created_at',
  'expires_at',
  'revoked_at',
  'last_used_at',
  'scopes',
  'addresses',
  'lifetime_seconds',
];
const STATE = `case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'active' end as state`;

const LIVE = 'revoked_at is null and (expires_at is null or expires_at > now())';
const EXPIRES_SOON = `${LIVE} and lifetime_seconds is not null and expires_at < now() + interval '14 days' as expires_soon`;

function selectKeys(db: Knex) {
  return db('api_keys')
    .select<ApiKey[]>([...COLUMNS, db.raw(STATE), db.raw(EXPIRES_SOON)])
    .orderBy('key_id');
}

const MAX_LIVE_KEYS = 100;
/** All live keys, and the newest of the others. */
const MAX_LISTED = 200;

/**
 * Creates a key and returns it with its plain text, which is not stored.
 *
 * @throws {Problem} `too_many_keys` when the account has 100 live keys.
 */
export async function createKey(db: Knex, accountId: number, name: string, access: KeyAccess = {}): Promise<NewApiKey> {
  return db.transaction(async (trx) => {
    // Serializes concurrent calls, so that the count is correct.
    await lockAccount(trx, accountId);
    const [live] = await trx('api_keys').where({ account_id: accountId }).whereRaw(LIVE).count();
    if (Number(live?.count) >= MAX_LIVE_KEYS) throw new Problem('too_many_keys');
    const key = createApiKey();
    const row = {
      account_id: accountId,
      name,
      key_hash: hashApiKey(key),
      last_four: key.slice(-4),
      ...accessRow(trx, access),
    };
    const [{ key_id }] = await trx('api_keys').insert(row).returning('key_id');
    return { ...((await findKey(trx, key_id)) as ApiKey), key };
  });
}

function accessRow(db: Knex, { lifetime_seconds, ...access }: KeyAccess): object {
  if (lifetime_seconds === undefined) return access;
  // Null without a lifetime.
  return { ...access, lifetime_seconds, expires_at: db.raw("now() + ?::integer * interval '1 s'", [lifetime_seconds]) };
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

/** Whether a key was replaced and still works for its grace period. */
export function isReplaced({ expires_at, lifetime_seconds }: Pick<ApiKey, 'expires_at' | 'lifetime_seconds'>): boolean {
  return expires_at !== null && lifetime_seconds === null;
}

/** The key, locked until the end of the transaction; null if it is unknown, not active, or already replaced. */
async function lockCurrentKey(trx: Knex, keyId: number, accountId: number | undefined): Promise<ApiKey | null> {
  // Serializes concurrent replacements and changes.
  await trx('api_keys').where(only(keyId, accountId)).forUpdate().select('key_id');
  const key = await findKey(trx, keyId, accountId);
  return key?.state === 'active' && !isReplaced(key) ? key : null;
}

/**
 * Changes what a key may do, from where, and for how long from now; what `access` does not name stays. Effective in intake within 5 seconds.
 *
 * @param accountId as in `findKey`.
 * @returns null when the key is unknown, not active, or replaced.
 */
export async function updateKey(
  db: Knex,
  keyId: number,
  access: KeyAccess,
  accountId?: number,
): Promise<ApiKey | null> {
  return db.transaction(async (trx) => {
    const key = await lockCurrentKey(trx, keyId, accountId);
    if (!key) return null;
    await trx('api_keys').where({ account_id: key.account_id, key_id: keyId }).update(accessRow(trx, access));
    return findKey(trx, keyId);
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
  db: Knex,
  keyId: number,
  graceMs: number,
  accountId?: number,
): Promise<NewApiKey | null> {
  return db.transaction(async (trx) => {
    const old = await lockCurrentKey(trx, keyId, accountId);
    if (!old) return null;
    const end = trx.raw("least(coalesce(expires_at, 'infinity'), now() + ? * interval '1 ms')", [graceMs]);
    await trx('api_keys')
      .where({ account_id: old.account_id, key_id: keyId })
      .update({ expires_at: end, lifetime_seconds: null });
    const { scopes, addresses, lifetime_seconds } = old;
    return createKey(trx, old.account_id, old.name, { scopes, addresses, lifetime_seconds });
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
