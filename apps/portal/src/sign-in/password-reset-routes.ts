import { type Connection, execute, inTransaction, run } from '@orders/database/run.ts';
import { listMemberships } from '@orders/database/users/memberships.ts';
import { createToken, forgetRecentCodeAttempts, hashToken } from '@orders/database/users/one-time-codes.ts';
import { setPassword } from '@orders/database/users/passwords.ts';
import { lockUser } from '@orders/database/users/sessions.ts';
import { takeSignInAttempt } from '@orders/database/users/sign-in-attempts.ts';
import { findUser, proveAddress } from '@orders/database/users/users.ts';
import { parseEmailAddress } from '@orders/domain/email-address.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { contextOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { notifySecurityChange } from '../mail/notify-security-change.ts';
import { writeMail } from '../mail/write-mail.ts';
import { bodyOf, plainText } from '../read-request.ts';
import { boundsAround, digestOf, takeWithin, tooManyAttempts } from './attempt-bounds.ts';
import { newPassword } from './open-session.ts';
import type { SignInRecord } from './record-sign-in.ts';
import { tryNewPassword } from './try-new-password.ts';

const WINDOW_MS = 15 * 60_000;
/** Max requests for a new password from one network, for any addresses. */
const MAX_FROM_NETWORK = { narrow: 20, wide: 40, widest: 80 };
/**
 * How long the mails to one address are counted, and how long a link works, as the mail says. Somebody who uses up the limit thus leaves
 * the user a link that works until the next one may be sent.
 */
const RESET_WINDOW_MS = 60 * 60_000;
/**
 * Max mails to one address. Somebody who asks for links for another's address uses up only the limit of their own network, so the owner
 * still gets one from another network.
 */
const TO_ADDRESS = { maxFromNetwork: 3, max: 6 };

/** @throws {Problem} `too_many_attempts`, which depends on the network alone. */
async function limitResets(connection: Connection, request: Request): Promise<void> {
  const bounds = boundsAround(request.ip ?? '', MAX_FROM_NETWORK, 'resets from network');
  const exceeded = await takeWithin(connection, bounds, WINDOW_MS);
  if (!exceeded) return;
  throw tooManyAttempts(exceeded.msLeft, 'Too many requests for a new password. Retry after the time in Retry-After.');
}

/**
 * Counts a mail to an address, whether or not it is a user's.
 *
 * @param network anything that stands for the network of the request.
 * @returns false if the address has reached its limit for this hour.
 */
async function countReset(connection: Connection, email: string, network: string): Promise<boolean> {
  const { maxFromNetwork, max } = TO_ADDRESS;
  const own = await takeSignInAttempt(connection, digestOf('reset', email, network), RESET_WINDOW_MS);
  if (own.attempts > maxFromNetwork) return false;
  return (await takeSignInAttempt(connection, digestOf('reset', email), RESET_WINDOW_MS)).attempts <= max;
}

const token = Joi.string().max(100).required();

/** One address; line breaks, which a mail's header must not get, are rejected before it is trimmed. */
const emailAddress = plainText(254)
  .custom((text: string) => {
    const address = parseEmailAddress(text);
    if (address === null) throw new Error('not an address');
    return address;
  })
  .message('{{#label}} must be one e-mail address')
  .required();

/** A new password by a link that is mailed to the user. Tokens come by POST, so that no URL contains one. */
export function passwordResetRoutes(deps: PortalDeps, record: SignInRecord): Router {
  const { devices, hasher, database, mails, config } = deps;
  const router = Router();

  /** Runs after the reply, so that the reply cannot tell whether the address is a user's. */
  async function writeLink(email: string, network: string) {
    if (!(await countReset(database, email, network))) return null;
    const user = await findUser(database, email);
    if (!user) {
      await record.resetOfNobody(network, email);
      return null;
    }
    const made = await inTransaction(database, async (transaction) => {
      await record.resetRequested(transaction, network, user.email);
      return createPasswordReset(transaction, user.user_id, RESET_WINDOW_MS);
    });
    const link = `${config.PORTAL_URL}/new-password#${made}`;
    return writeMail(user.email, { kind: 'password_reset', at: new Date(), link }, config.PORTAL_URL);
  }

  router.get('/password-resets', (_request, response) => {
    response.json({ is_available: mails.isEnabled });
  });
  router.post('/password-resets', async (request, response) => {
    const { email } = bodyOf<{ email: string }>(request, { email: emailAddress });
    if (!mails.isEnabled) throw new Problem('mail_not_configured');
    await limitResets(database, request);
    // Once a request has ended, its address is unknown.
    const network = record.networkOf(request);
    mails.send('password_reset', () => writeLink(email, network));
    response.status(202).end();
  });
  router.post('/password-resets/lookup', async (request, response) => {
    const body = bodyOf<{ token: string }>(request, { token });
    const reset = await findPasswordReset(database, body.token);
    if (!reset) throw new Problem('reset_not_found');
    response.json({ email: reset.email });
  });
  // The user signs in as usual afterwards, so the link does not replace a second factor.
  router.post('/password-resets/use', async (request, response) => {
    const body = bodyOf<{ token: string; password: string }>(request, { token, password: newPassword });
    // Hashing is CPU-intensive: check the token first.
    const reset = await findPasswordReset(database, body.token);
    if (!reset) throw new Problem('reset_not_found');
    const accountNames = (await listMemberships(database, reset.userId)).map(({ name }) => name);
    const requester = { key: reset.userId, isTrusted: true, signal: contextOf(request).closed };
    const hash = await hasher.admit(requester, async () => {
      await tryNewPassword(database, body.password, { ...reset, accountNames });
      return hasher.hash(body.password);
    });
    await inTransaction(database, async (transaction) => {
      const used = await usePasswordReset(transaction, body.token, hash);
      if (!used) throw new Problem('reset_not_found');
      await record.passwordReset(transaction, request, used.email);
    });
    notifySecurityChange(deps, reset, 'password_changed');
    await devices.rememberDevice(response, reset.userId);
    response.status(204).end();
  });
  return router;
}

/** The user of a one-time link for a new password. */
interface ResettingUser {
  userId: string;
  email: string;
  name: string;
}

/**
 * Creates a one-time link by which a user sets a new password; an earlier link of the user no longer works.
 *
 * @param validForMs validity of the link in milliseconds.
 * @returns the token of the link, which is not stored.
 */
export async function createPasswordReset(connection: Connection, userId: string, validForMs: number): Promise<string> {
  const token = createToken();
  await execute(
    connection,
    `insert into password_resets (user_id, token_hash, expires_at) values ($1, $2, now() + $3 * interval '1 ms')
     on conflict (user_id) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at`,
    [userId, hashToken(token), validForMs],
  );
  return token;
}

/** The user of a link; null when its token is unknown, used, replaced or expired. */
async function findPasswordReset(connection: Connection, token: string): Promise<ResettingUser | null> {
  const [user] = await run<ResettingUser>(
    connection,
    `select u.id as "userId", u.email, u.name from users u join password_resets r on r.user_id = u.id
     where r.token_hash = $1 and r.expires_at > now()`,
    [hashToken(token)],
  );
  return user ?? null;
}

/**
 * Uses a link once: sets the password of its user, ends all their sessions and the lock after wrong codes; the address is proved. Must be called in a transaction.
 *
 * @param passwordHash in the authentication library's format.
 * @returns the user; null when the token is unknown, used, replaced or expired.
 */
export async function usePasswordReset(
  connection: Connection,
  token: string,
  passwordHash: string,
): Promise<ResettingUser | null> {
  const found = await findPasswordReset(connection, token);
  if (!found) return null;
  // The user is locked before the link, as when a user is removed: another order could deadlock.
  await lockUser(connection, found.userId);
  const used = await execute(connection, 'delete from password_resets where token_hash = $1', [hashToken(token)]);
  if (used === 0) return null;
  // The link was mailed.
  await proveAddress(connection, found.userId);
  await setPassword(connection, found.userId, passwordHash);
  await forgetRecentCodeAttempts(connection, found.userId);
  return found;
}
