import { createHash, randomUUID } from 'node:crypto';
import { type Connection, execute, inTransaction, run } from '../run.ts';
import { forgetCodeAttempts } from './one-time-codes.ts';
import { endSessions } from './sessions.ts';
import { findUser, recordOfUser, type User } from './users.ts';

export interface Passkey {
  passkey_id: string;
  name: string | null;
  created_at: Date;
}

/** The second factors of a user; passkeys oldest first. */
export interface SecondFactors {
  totp: boolean;
  passkeys: Passkey[];
  /** Unused ones. */
  recovery_codes: number;
}

/** The secrets of a user's authenticator app, encrypted. */
export interface TotpSecrets {
  /** Null without an app. */
  secret: string | null;
  /** Of an app that is being set up. */
  pending: string | null;
}

/** The second factors of a user. */
export async function findSecondFactors(connection: Connection, userId: string): Promise<SecondFactors> {
  const passkeys = await run<Passkey>(
    connection,
    'select id as passkey_id, name, created_at from user_passkeys where user_id = $1 order by created_at, id',
    [userId],
  );
  const [row] = await run<{ verified: boolean; backup_codes: string }>(
    connection,
    'select verified, backup_codes from user_second_factors where user_id = $1',
    [userId],
  );
  const codes: string[] = row ? JSON.parse(row.backup_codes) : [];
  return { totp: row?.verified === true, passkeys, recovery_codes: codes.length };
}

/** Whether a user has a passkey or an authenticator app. */
export function hasSecondFactor({ totp, passkeys }: SecondFactors): boolean {
  return totp || passkeys.length > 0;
}

/** As `hasSecondFactor`, by one query. */
export async function ownsSecondFactor(connection: Connection, userId: string): Promise<boolean> {
  const [row] = await run<{ owns: boolean }>(
    connection,
    `select exists (select from user_passkeys where user_id = $1)
         or exists (select from user_second_factors where user_id = $1 and verified) as owns`,
    [userId],
  );
  return row?.owns === true;
}

/** The secrets of a user's authenticator app. */
export async function findTotp(connection: Connection, userId: string): Promise<TotpSecrets> {
  const find = 'select secret, pending_secret as pending from user_second_factors where user_id = $1';
  const [row] = await run<{ secret: string; pending: string | null }>(connection, find, [userId]);
  return { secret: row?.secret || null, pending: row?.pending ?? null };
}

/** Stores the encrypted secret of an app that is being set up; an earlier app works until `finishTotp`. */
export async function startTotp(connection: Connection, userId: string, secret: string): Promise<void> {
  await execute(
    connection,
    `insert into user_second_factors (id, user_id, secret, pending_secret, backup_codes) values ($1, $2, '', $3, '[]')
     on conflict (user_id) do update set pending_secret = excluded.pending_secret`,
    [randomUUID(), userId, secret],
  );
}

/**
 * Ends the set-up of an app: from now on its codes count, and those of an earlier one do not.
 *
 * @param step the time step of the code that showed that the app has the secret.
 * @returns false when another set-up was started or finished meanwhile.
 */
export async function finishTotp(
  connection: Connection,
  userId: string,
  pending: string,
  step: number,
): Promise<boolean> {
  const updated = await execute(
    connection,
    `update user_second_factors set secret = pending_secret, pending_secret = null, verified = true, last_time_step = $3
     where user_id = $1 and pending_secret = $2`,
    [userId, pending, step],
  );
  return updated > 0;
}

/**
 * Uses up a time step of a user's authenticator app, with all earlier ones.
 *
 * @returns false when it, or a later one, was used before.
 */
export async function takeTimeStep(connection: Connection, userId: string, step: number): Promise<boolean> {
  const updated = await execute(
    connection,
    `update user_second_factors set last_time_step = $2::int
     where user_id = $1 and coalesce(last_time_step, 0) < $2::int`,
    [userId, step],
  );
  return updated > 0;
}

/** The hash under which a recovery code is stored. */
export function hashRecoveryCode(code: string): string {
  return createHash('sha256')
    .update(code.toLowerCase().replace(/[^a-z0-9]/g, ''))
    .digest('base64url');
}

/** Replaces the recovery codes of a user; earlier ones no longer work. Also makes a password alone insufficient for signing in. */
export async function setRecoveryCodes(
  connection: Connection,
  userId: string,
  codes: readonly string[],
): Promise<void> {
  await execute(
    connection,
    `insert into user_second_factors (id, user_id, secret, backup_codes) values ($1, $2, '', $3)
     on conflict (user_id) do update set backup_codes = excluded.backup_codes`,
    [randomUUID(), userId, JSON.stringify(codes.map(hashRecoveryCode))],
  );
  await execute(connection, 'update users set two_factor_enabled = true where id = $1', [userId]);
}

/** Removes the authenticator app. @returns false when there is none. */
export async function removeTotp(connection: Connection, userId: string): Promise<boolean> {
  const removed = await execute(
    connection,
    `update user_second_factors set secret = '', verified = false, last_time_step = null
     where user_id = $1 and verified`,
    [userId],
  );
  await forgetWithoutFactor(connection, userId);
  return removed > 0;
}

/** Removes a passkey. @returns false when the user has no such passkey. */
export async function removePasskey(connection: Connection, userId: string, passkeyId: string): Promise<boolean> {
  const remove = 'delete from user_passkeys where id = $1 and user_id = $2';
  const removed = await execute(connection, remove, [passkeyId, userId]);
  await forgetWithoutFactor(connection, userId);
  return removed > 0;
}

/** If the user has no factor left: removes the recovery codes, and lets a password alone open a session again. */
async function forgetWithoutFactor(connection: Connection, userId: string): Promise<void> {
  if (hasSecondFactor(await findSecondFactors(connection, userId))) return;
  await execute(connection, 'delete from user_second_factors where user_id = $1', [userId]);
  await execute(connection, 'update users set two_factor_enabled = false where id = $1', [userId]);
}

/** Removes all second factors of a user who has lost them, forgets wrong codes and ends the sessions, with audit. @returns null when there is no such user. */
export async function resetSecondFactors(connection: Connection, email: string, actor: string): Promise<User | null> {
  return inTransaction(connection, async (transaction) => {
    const user = await findUser(transaction, email);
    if (!user) return null;
    const userId = user.user_id;
    await endSessions(transaction, userId);
    await execute(transaction, 'delete from user_passkeys where user_id = $1', [userId]);
    await removeTotp(transaction, userId);
    await forgetCodeAttempts(transaction, userId);
    await recordOfUser(transaction, user.email, { actor, action: 'second_factors_reset' });
    return user;
  });
}

/** The user of a challenge: they gave the right password, and a second factor is due. Null when it is unknown or expired. */
export async function findChallengedUser(
  connection: Connection,
  identifier: string,
): Promise<{ user_id: string; email: string } | null> {
  const [user] = await run<{ user_id: string; email: string }>(
    connection,
    `select u.id as user_id, u.email from user_verifications v join users u on u.id = v.value
     where v.identifier = $1 and v.expires_at > now()`,
    [identifier],
  );
  return user ?? null;
}

/** The user of a passkey, by the id that the passkey has for browsers; null when it is unknown. */
export async function findPasskeyUser(
  connection: Connection,
  credentialId: string,
): Promise<{ user_id: string; email: string } | null> {
  const [user] = await run<{ user_id: string; email: string }>(
    connection,
    'select u.id as user_id, u.email from user_passkeys p join users u on u.id = p.user_id where p.credential_id = $1',
    [credentialId],
  );
  return user ?? null;
}

/** Sets whether the members of an account need a second factor, in test mode too. @returns false when that was so before. */
export async function setSecondFactorRequired(
  connection: Connection,
  accountId: number,
  required: boolean,
): Promise<boolean> {
  const updated = await execute(
    connection,
    'update accounts set second_factor_required = $2 where $1 in (account_id, test_of) and second_factor_required <> $2',
    [accountId, required],
  );
  return updated > 0;
}
