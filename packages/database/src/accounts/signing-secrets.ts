import { createSigningSecret } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { Knex } from 'knex';
import { lockAccount } from './accounts.ts';
import { type SecretsKeys, seal, unseal } from './seal.ts';

/** A decrypted signing secret; `expires_at` is the end of its overlap after a rotation. */
export interface SigningSecret {
  secret: string;
  created_at: Date;
  expires_at: Date | null;
}

/** A signing secret without its plain text. */
export interface SigningSecretRow {
  secret_id: number;
  created_at: Date;
  expires_at: Date | null;
  /** When it last verified a webhook although there was a newer secret, to the minute. */
  last_used_at: Date | null;
}

/** Each webhook is verified with every live secret. */
export const MAX_LIVE_SECRETS = 2;
/** Max rotations of one account per hour. */
const MAX_ROTATIONS = 10;
/** Secrets kept, including expired ones: the newest of these let intake tell a sender that it signs with an old secret. */
const KEPT_SECRETS = 20;

/** The live secrets, newest first, without plain texts. */
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

/** The live secrets, newest first; empty when signing is not enabled. */
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

/** Creates the account's first signing secret; an account that has a secret keeps it. */
export async function enableSigning(db: Knex, keys: SecretsKeys, accountId: number): Promise<SigningSecret> {
  return db.transaction(async (trx) => {
    await lockAccount(trx, accountId);
    const [current] = await showSigning(trx, keys, accountId);
    return current ?? (await addSecret(trx, keys, accountId));
  });
}

/**
 * Creates a new secret; the old one stays live for `overlapMs` more milliseconds. While there are two live secrets, only a rotation without
 * overlap is possible, which ends both: with an overlap, a third secret would end one that a sender may still use.
 *
 * @returns null when signing is not enabled.
 * @throws {Problem} `signing_secrets_overlap`, or `rate_limited` after ten rotations in an hour.
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
    const secret = await addSecret(trx, keys, accountId);
    await removeOldSecrets(trx, accountId);
    return secret;
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

async function removeOldSecrets(trx: Knex, accountId: number): Promise<void> {
  const kept = trx('signing_secrets')
    .where({ account_id: accountId })
    .orderBy('secret_id', 'desc')
    .limit(KEPT_SECRETS)
    .select('secret_id');
  await trx('signing_secrets').where({ account_id: accountId }).whereNotIn('secret_id', kept).delete();
}

/** Deletes all secrets: the webhook route responds `signing_unavailable` within 5 seconds. */
export async function disableSigning(db: Knex, accountId: number): Promise<void> {
  await db('signing_secrets').where({ account_id: accountId }).delete();
}

async function addSecret(db: Knex, keys: SecretsKeys, accountId: number): Promise<SigningSecret> {
  const secret = createSigningSecret();
  const row = { account_id: accountId, sealed: seal(keys, accountId, secret) };
  const [{ created_at }] = await db('signing_secrets').insert(row).returning('created_at');
  return { secret, created_at, expires_at: null };
}
