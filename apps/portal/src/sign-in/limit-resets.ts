import { takeSignInAttempt } from '@orders/database/users/sign-in-attempts.ts';
import type { Request } from 'express';
import type { Knex } from 'knex';
import { boundsAround, takeWithin } from './attempt-bounds.ts';
import { digestOf } from './counter-keys.ts';
import { tooManyAttempts } from './too-many-attempts.ts';

const WINDOW_MS = 15 * 60_000;
/** Max requests for a new password from one network, for any addresses. */
const MAX_FROM_NETWORK = { narrow: 20, wide: 40, widest: 80 };
/**
 * How long the mails to one address are counted, and how long a link works, as the mail says. Somebody who uses up the limit thus leaves
 * the user a link that works until the next one may be sent.
 */
export const RESET_WINDOW_MS = 60 * 60_000;
/**
 * Max mails to one address. Somebody who asks for links for another's address uses up only the limit of their own network, so the owner
 * still gets one from another network.
 */
const TO_ADDRESS = { maxFromNetwork: 3, max: 6 };

/** @throws {Problem} `too_many_attempts`, which depends on the network alone. */
export async function limitResets(db: Knex, request: Request): Promise<void> {
  const bounds = boundsAround(request.ip ?? '', MAX_FROM_NETWORK, 'resets from network');
  const exceeded = await takeWithin(db, bounds, WINDOW_MS);
  if (!exceeded) return;
  throw tooManyAttempts(exceeded.msLeft, 'Too many requests for a new password. Retry after the time in Retry-After.');
}

/**
 * Counts a mail to an address, whether or not it is a user's.
 *
 * @param network anything that stands for the network of the request.
 * @returns false if the address has reached its limit for this hour.
 */
export async function countReset(db: Knex, email: string, network: string): Promise<boolean> {
  const { maxFromNetwork, max } = TO_ADDRESS;
  const own = await takeSignInAttempt(db, digestOf('reset', email, network), RESET_WINDOW_MS);
  if (own.attempts > maxFromNetwork) return false;
  return (await takeSignInAttempt(db, digestOf('reset', email), RESET_WINDOW_MS)).attempts <= max;
}
