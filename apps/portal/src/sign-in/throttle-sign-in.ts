import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { forgetSignInAttempts, returnSignInAttempt, takeSignInAttempt } from '@orders/database';
import { Problem } from '@orders/domain';
import type { Knex } from 'knex';

const WINDOW_MS = 15 * 60_000;

/**
 * Max failures within the window. Repeated failures for an e-mail address lock out the guesser's network, not its owner; only failures from
 * many networks lock the address for all.
 */
const BOUNDS = { network: 50, emailFromNetwork: 10, email: 100 };

/**
 * Checks a password within the bounds. Attempts are counted before the check, so that concurrent ones cannot exceed the bounds, and
 * uncounted when the password is right. An attempt rejected for its network does not count for the address.
 *
 * @param network the client's IP address as the proxy reports it.
 * @param isRight whether the password is right.
 * @throws {Problem} `too_many_attempts`, or `wrong_credentials`.
 */
export async function tryPassword(
  db: Knex,
  { email, network }: { email: string; network: string },
  isRight: () => Promise<boolean>,
): Promise<void> {
  const prefix = networkOf(network);
  const keys = {
    network: keyOf('network', prefix),
    emailFromNetwork: keyOf('email from network', email, prefix),
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
  // Only this attempt: signing in to one's own account must not reset the failures for other addresses.
  await returnSignInAttempt(db, keys.network);
  await returnSignInAttempt(db, keys.email);
}

// Hashed because addresses are personal data and may be longer than the table's key.
function keyOf(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url');
}

/** An IPv4 address, or the /64 prefix of an IPv6 address, which providers assign to one customer. */
function networkOf(address: string): string {
  const unmapped = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(unmapped)) return unmapped;
  const [head = '', tail = ''] = unmapped.split('::');
  const groups = (text: string) => text.split(':').filter(Boolean);
  const missing = Array(Math.max(0, 8 - groups(head).length - groups(tail).length)).fill('0');
  return [...groups(head), ...missing, ...groups(tail)].slice(0, 4).join(':');
}
