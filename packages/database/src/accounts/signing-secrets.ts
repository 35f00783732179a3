import { createSigningSecret, Problem } from '@orders/domain';
import type { Knex } from 'knex';
import { lockAccount } from './accounts.ts';
import { type SecretsKeys, seal, unseal } from './seal.ts';

/** A signing secret, readable; `expires_at` is the end of its overlap once it was rotated out. */
export interface SigningSecret {
  secret: string;
  created_at: Date;
  expires_at: Date | null;
}

/** What may be said of a signing secret without showing it. */
export interface SigningSecretRow {
  secret_id: number;
  created_at: Date;
  expires_at: Date | null;
  /** When a webhook was last verified by it though there was a newer one, to the minute. */
  last_used_at: Date | null;
}

/** Each webhook is tried with every secret that verifies. */
export const MAX_LIVE_SECRETS = 2;
/** Rotations of one account within an hour. */
const MAX_ROTATIONS = 10;
/** Secrets kept after they have ended: the newest few tell a sender that it signs with a former one. */
const KEPT_SECRETS = 20;

/** The secrets that verify now, newest first, without their texts. */
export async function listSigning(db: Knex, accountId: number): Promise<SigningSecretRow[]> {
  return selectLive(db, accountId).select('secret_id', 'created_at', 'expires_at', 'last_used_at');
}

function selectLive(db: Knex, accountId: number): Knex.QueryBuilder {
  return db('signing_secrets')
    .where({ account_id: accountId })
    .andWhere((live) => live.whereNull('expires_at').orWhere('expires_at', '>', db.fn.now()))
    .orderBy('secret_id', 'desc')
    .limit(MAX_LIVE_SECRETS);
}

/** The secrets that verify now, newest first; none: signing is not enabled. `keys`: of `SECRETS_KEY`. */
export async function showSigning(db: Knex, keys: SecretsKeys, accountId: number): Promise<SigningSecret[]> {
  const rows: (Omit<SigningSecret, 'secret'> & { sealed: Buffer })[] = await selectLive(db, accountId).select(
    'sealed',
    'created_at',
    'expires_at',
  );
  return rows.map(({ sealed, created_at, expires_at }) => ({
    secret: unseal(keys, accountId, sealed),
    created_at,
    expires_at,
  }));
}

/** Gives the account its first signing secret; one that has a secret keeps it. */
export async function enableSigning(db: Knex, keys: SecretsKeys, accountId: number): Promise<SigningSecret> {
  return db.transaction(async (trx) => {
    await lockAccount(trx, accountId);
    const [current] = await showSigning(trx, keys, accountId);
    return current ?? (await addSecret(trx, keys, accountId));
  });
}

/**
 * Makes a new secret; the old one verifies for another `overlapMs` milliseconds. While an older one still overlaps, only a rotation
 * without overlap is possible, which ends both: a third secret would end one that a sender may still sign with.
 *
 * @returns null when signing is not enabled.
 * @throws {Problem} `signing_secrets_overlap`, or `rate_limited` after ten rotations within an hour.
 */
export async function rotateSigning(
  db: Knex,
  keys: SecretsKeys,
  accountId: number,
  overlapMs: number,
): Promise<SigningSecret | null> {
  return db.transaction(async (trx) => {
    await lockAccount(trx, accountId);
    const live = await showSigning(trx, keys, accountId);
    if (live.length === 0) return null;
    if (overlapMs > 0 && live.length >= MAX_LIVE_SECRETS) throw new Problem('signing_secrets_overlap');
    await checkRate(trx, accountId);
    const end = trx.raw("least(coalesce(expires_at, 'infinity'), now() + ? * interval '1 ms')", [overlapMs]);
    await trx('signing_secrets').where({ account_id: accountId }).update({ expires_at: end });
    const made = await addSecret(trx, keys, accountId);
    await removeFormer(trx, accountId);
    return made;
  });
}

async function checkRate(trx: Knex, accountId: number): Promise<void> {
  const [oldest] = await trx('signing_secrets')
    .where({ account_id: accountId })
    .orderBy('secret_id', 'desc')
    .offset(MAX_ROTATIONS - 1)
    .limit(1)
    .select(trx.raw(`extract(epoch from created_at + interval '1 hour' - now())::float8 as "secondsLeft"`));
  if (!(oldest?.secondsLeft > 0)) return;
  const minutes = Math.ceil(oldest.secondsLeft / 60);
  const detail = `A signing secret can be rotated ${MAX_ROTATIONS} times an hour. Try again in ${minutes} min.`;
  throw new Problem('rate_limited', { detail, headers: { 'Retry-After': String(Math.ceil(oldest.secondsLeft)) } });
}

async function removeFormer(trx: Knex, accountId: number): Promise<void> {
  const kept = trx('signing_secrets')
    .where({ account_id: accountId })
    .orderBy('secret_id', 'desc')
    .limit(KEPT_SECRETS)
    .select('secret_id');
  await trx('signing_secrets').where({ account_id: accountId }).whereNotIn('secret_id', kept).delete();
}

/** Takes all secrets away: the webhook route answers `signing_unavailable` within 5 seconds. */
export async function disableSigning(db: Knex, accountId: number): Promise<void> {
  await db('signing_secrets').where({ account_id: accountId }).delete();
}

async function addSecret(db: Knex, keys: SecretsKeys, accountId: number): Promise<SigningSecret> {
  const secret = createSigningSecret();
  const row = { account_id: accountId, sealed: seal(keys, accountId, secret) };
  const [{ created_at }] = await db('signing_secrets').insert(row).returning('created_at');
  return { secret, created_at, expires_at: null };
}
