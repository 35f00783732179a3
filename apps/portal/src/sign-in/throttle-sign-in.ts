import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { forgetSignInAttempts, returnSignInAttempt, takeSignInAttempt } from '@orders/database';
import { Problem } from '@orders/domain';
import type { Knex } from 'knex';

const WINDOW_MS = 15 * 60_000;

/**
 * Failures within the window. Whoever keeps failing for an e-mail address shuts out their own network, not its owner: only from many
 * networks at once can so many failures be brought together that the address is closed to all.
 */
const BOUNDS = { network: 50, emailFromNetwork: 10, email: 100 };

/**
 * Tries a password within the bounds. The attempt is counted before it is made, so that many at once are not more than many one by one,
 * and taken back when it was right. It is counted for the address only if it was let through for the network.
 *
 * @param network an IP address as the proxy in front reports it.
 * @param isRight whether the password is right.
 * @throws {Problem} `too_many_attempts`, or `wrong_credentials`.
 */
export async function tryPassword(
  db: Knex,
  { email, network }: { email: string; network: string },
  isRight: () => Promise<boolean>,
): Promise<void> {
  const place = cursorOf(network);
  const keys = {
    network: keyOf('network', place),
    emailFromNetwork: keyOf('email from network', email, place),
    email: keyOf('email', email),
  };
  for (const name of ['network', 'emailFromNetwork', 'email'] as const) {
    const { attempts, msLeft } = await takeSignInAttempt(db, keys[name], WINDOW_MS);
    if (attempts <= BOUNDS[name]) continue;
    const seconds = Math.max(Math.ceil(msLeft / 1000), 1);
    throw new Problem('too_many_attempts', { headers: { 'Retry-After': String(seconds) } });
  }
  if (!(await isRight())) throw new Problem('wrong_credentials');
  await forgetSignInAttempts(db, keys.emailFromNetwork);
  // One only: an account of one's own must not wipe out the failures of all others.
  await returnSignInAttempt(db, keys.network);
  await returnSignInAttempt(db, keys.email);
}

// Addresses are personal data, and may be longer than a key of the table.
function keyOf(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url');
}

/** An IPv4 address, or the 64 bits of an IPv6 one that a customer of a provider gets whole. */
function cursorOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const groups = (text: string) => text.split(':').filter(Boolean);
  const missing = Array(Math.max(0, 8 - groups(head).length - groups(tail).length)).fill('0');
  return [...groups(head), ...missing, ...groups(tail)].slice(0, 4).join(':');
}
