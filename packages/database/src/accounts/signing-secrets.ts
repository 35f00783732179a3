import { createSigningSecret } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Connection, execute, inTransaction, run } from '../run.ts';
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

/** SQL: the live secrets of account $1. */
const LIVE = `
from signing_secrets where account_id = $1 and (expires_at is null or expires_at > now())
order by secret_id desc limit ${MAX_LIVE_SECRETS}`;

/** The live secrets, newest first, without plain texts. */
export async function listSigning(connection: Connection, accountId: number): Promise<SigningSecretRow[]> {
  const select = `select secret_id, created_at, expires_at, last_used_at ${LIVE}`;
  return run<SigningSecretRow>(connection, select, [accountId]);
}

/** The live secrets, newest first; empty when signing is not enabled. */
export async function showSigning(
  connection: Connection,
  keys: SecretsKeys,
  accountId: number,
): Promise<SigningSecret[]> {
  const rows = await run<Omit<SigningSecret, 'secret'> & { sealed: Buffer }>(
    connection,
    `select sealed, created_at, expires_at ${LIVE}`,
    [accountId],
  );
  return rows.map(({ sealed, ...row }) => ({ secret: unseal(keys, accountId, sealed), ...row }));
}

/** Creates the account's first signing secret; an account that has a secret keeps it. */
export async function enableSigning(
  connection: Connection,
  keys: SecretsKeys,
  accountId: number,
): Promise<SigningSecret> {
  return inTransaction(connection, async (transaction) => {
    await lockAccount(transaction, accountId);
    const [current] = await showSigning(transaction, keys, accountId);
    return current ?? (await addSecret(transaction, keys, accountId));
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
  connection: Connection,
  keys: SecretsKeys,
  accountId: number,
  overlapMs: number,
): Promise<SigningSecret | null> {
  return inTransaction(connection, async (transaction) => {
    await lockAccount(transaction, accountId);
    const live = await showSigning(transaction, keys, accountId);
    if (live.length === 0) return null;
    if (overlapMs > 0 && live.length >= MAX_LIVE_SECRETS) throw new Problem('signing_secrets_overlap');
    await checkRate(transaction, accountId);
    await execute(
      transaction,
      `update signing_secrets set expires_at = least(coalesce(expires_at, 'infinity'), now() + $2 * interval '1 ms')
       where account_id = $1`,
      [accountId, overlapMs],
    );
    const secret = await addSecret(transaction, keys, accountId);
    await removeOldSecrets(transaction, accountId);
    return secret;
  });
}

async function checkRate(connection: Connection, accountId: number): Promise<void> {
  const [oldest] = await run<{ secondsLeft: number }>(
    connection,
    `select extract(epoch from created_at + interval '1 hour' - now())::float8 as "secondsLeft" from signing_secrets
     where account_id = $1 order by secret_id desc offset ${MAX_ROTATIONS - 1} limit 1`,
    [accountId],
  );
  if (!oldest || oldest.secondsLeft <= 0) return;
  const minutes = Math.ceil(oldest.secondsLeft / 60);
  const detail = `A signing secret can be rotated ${MAX_ROTATIONS} times an hour. Try again in ${minutes} min.`;
  throw new Problem('rate_limited', { detail, headers: { 'Retry-After': String(Math.ceil(oldest.secondsLeft)) } });
}

async function removeOldSecrets(connection: Connection, accountId: number): Promise<void> {
  await execute(
    connection,
    `delete from signing_secrets where account_id = $1 and secret_id not in (
       select secret_id from signing_secrets where account_id = $1 order by secret_id desc limit ${KEPT_SECRETS}
     )`,
    [accountId],
  );
}

/** Deletes all secrets: the webhook route responds `signing_unavailable` within 5 seconds. */
export async function disableSigning(connection: Connection, accountId: number): Promise<void> {
  await execute(connection, 'delete from signing_secrets where account_id = $1', [accountId]);
}

async function addSecret(connection: Connection, keys: SecretsKeys, accountId: number): Promise<SigningSecret> {
  const secret = createSigningSecret();
  const [added] = await run<Pick<SigningSecret, 'created_at'>>(
    connection,
    'insert into signing_secrets (account_id, sealed) values ($1, $2) returning created_at',
    [accountId, seal(keys, accountId, secret)],
  );
  return { secret, created_at: added?.created_at as Date, expires_at: null };
}
