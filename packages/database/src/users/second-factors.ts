import { createHash, randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
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
export async function findSecondFactors(db: Knex, userId: string): Promise<SecondFactors> {
  const passkeys: Passkey[] = await db('user_passkeys')
    .where({ user_id: userId })
    .orderBy([{ column: 'created_at' }, { column: 'id' }])
    .select('id as passkey_id', 'name', 'created_at');
  const row = await db('user_second_factors').where({ user_id: userId }).first('verified', 'backup_codes');
  const codes: string[] = row ? JSON.parse(row.backup_codes) : [];
  return { totp: row?.verified === true, passkeys, recovery_codes: codes.length };
}

/** Whether a user has a passkey or an authenticator app. */
export function hasSecondFactor({ totp, passkeys }: SecondFactors): boolean {
  return totp || passkeys.length > 0;
}

/** As `hasSecondFactor`, by one query. */
export async function ownsSecondFactor(db: Knex, userId: string): Promise<boolean> {
  const { rows } = await db.raw(
    `select exists (select from user_passkeys where user_id = :userId)
         or exists (select from user_second_factors where user_id = :userId and verified) as owns`,
    { userId },
  );
  return rows[0].owns;
}

/** The secrets of a user's authenticator app. */
export async function findTotp(db: Knex, userId: string): Promise<TotpSecrets> {
  const row = await db('user_second_factors').where({ user_id: userId }).first('secret', 'pending_secret');
  return { secret: row?.secret || null, pending: row?.pending_secret ?? null };
}

/** Stores the encrypted secret of an app that is being set up; an earlier app works until `finishTotp`. */
export async function startTotp(db: Knex, userId: string, secret: string): Promise<void> {
  await db('user_second_factors')
    .insert({ id: randomUUID(), user_id: userId, secret: '', pending_secret: secret, backup_codes: '[]' })
    .onConflict('user_id')
    .merge({ pending_secret: secret });
}

/**
 * Ends the set-up of an app: from now on its codes count, and those of an earlier one do not.
 *
 * @param step the time step of the code that showed that the app has the secret.
 * @returns false when another set-up was started or finished meanwhile.
 */
export async function finishTotp(trx: Knex, userId: string, pending: string, step: number): Promise<boolean> {
  const updated = await trx('user_second_factors')
    .where({ user_id: userId, pending_secret: pending })
    .update({ secret: pending, pending_secret: null, verified: true, last_time_step: step });
  return updated > 0;
}

/**
 * Uses up a time step of a user's authenticator app, with all earlier ones.
 *
 * @returns false when it, or a later one, was used before.
 */
export async function takeTimeStep(db: Knex, userId: string, step: number): Promise<boolean> {
  const updated = await db('user_second_factors')
    .where({ user_id: userId })
    .whereRaw('coalesce(last_time_step, 0) < ?', [step])
    .update({ last_time_step: step });
  return updated > 0;
}

/** The hash under which a recovery code is stored. */
export function hashRecoveryCode(code: string): string {
  return createHash('sha256')
    .update(code.toLowerCase().replace(/[^a-z0-9]/g, ''))
    .digest('base64url');
}

/** Replaces the recovery codes of a user; earlier ones no longer work. Also makes a password alone insufficient for signing in. */
export async function setRecoveryCodes(trx: Knex, userId: string, codes: readonly string[]): Promise<void> {
  const hashes = JSON.stringify(codes.map(hashRecoveryCode));
  await trx('user_second_factors')
    .insert({ id: randomUUID(), user_id: userId, secret: '', backup_codes: hashes })
    .onConflict('user_id')
    .merge({ backup_codes: hashes });
  await trx('users').where({ id: userId }).update({ two_factor_enabled: true });
}

/** Removes the authenticator app. @returns false when there is none. */
export async function removeTotp(trx: Knex, userId: string): Promise<boolean> {
  const removed = await trx('user_second_factors')
    .where({ user_id: userId, verified: true })
    .update({ secret: '', verified: false, last_time_step: null });
  await forgetWithoutFactor(trx, userId);
  return removed > 0;
}

/** Removes a passkey. @returns false when the user has no such passkey. */
export async function removePasskey(trx: Knex, userId: string, passkeyId: string): Promise<boolean> {
  const removed = await trx('user_passkeys').where({ id: passkeyId, user_id: userId }).delete();
  await forgetWithoutFactor(trx, userId);
  return removed > 0;
}

/** If the user has no factor left: removes the recovery codes, and lets a password alone open a session again. */
async function forgetWithoutFactor(trx: Knex, userId: string): Promise<void> {
  if (hasSecondFactor(await findSecondFactors(trx, userId))) return;
  await trx('user_second_factors').where({ user_id: userId }).delete();
  await trx('users').where({ id: userId }).update({ two_factor_enabled: false });
}

/** Removes all second factors of a user who has lost them, forgets wrong codes and ends the sessions, with audit. @returns null when there is no such user. */
export async function resetSecondFactors(db: Knex, email: string, actor: string): Promise<User | null> {
  return db.transaction(async (trx) => {
    const user = await findUser(trx, email);
    if (!user) return null;
    const userId = user.user_id;
    await endSessions(trx, userId);
    await trx('user_passkeys').where({ user_id: userId }).delete();
    await removeTotp(trx, userId);
    await forgetCodeAttempts(trx, userId);
    await recordOfUser(trx, user.email, { actor, action: 'second_factors_reset' });
    return user;
  });
}

/** The user of a challenge: they gave the right password, and a second factor is due. Null when it is unknown or expired. */
export async function findChallengedUser(
  db: Knex,
  identifier: string,
): Promise<{ user_id: string; email: string } | null> {
  const user = await db('user_verifications as v')
    .join('users as u', 'u.id', 'v.value')
    .where('v.identifier', identifier)
    .where('v.expires_at', '>', db.fn.now())
    .first('u.id as user_id', 'u.email');
  return user ?? null;
}

/** The user of a passkey, by the id that the passkey has for browsers; null when it is unknown. */
export async function findPasskeyUser(
  db: Knex,
  credentialId: string,
): Promise<{ user_id: string; email: string } | null> {
  const user = await db('user_passkeys as p')
    .join('users as u', 'u.id', 'p.user_id')
    .where('p.credential_id', credentialId)
    .first('u.id as user_id', 'u.email');
  return user ?? null;
}

/** Sets whether the members of an account need a second factor. @returns false when that was so before. */
export async function setSecondFactorRequired(db: Knex, accountId: number, required: boolean): Promise<boolean> {
  const updated = await db('accounts')
    .where({ account_id: accountId, second_factor_required: !required })
    .update({ second_factor_required: required });
  return updated > 0;
}
