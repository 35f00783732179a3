import type { Connection } from '@orders/database/run.ts';
import { forgetSignInAttempts, returnSignInAttempt } from '@orders/database/users/sign-in-attempts.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { Request } from 'express';
import { contextOf } from '../context.ts';
import { type Bound, boundsAround, digestOf, networksOf, takeWithin, tooManyAttempts } from './attempt-bounds.ts';
import type { KnownDevices } from './known-device.ts';
import type { PasswordHasher, Requester } from './password-hasher.ts';
import type { LockOut, SignInRecord } from './record-sign-in.ts';

/**
 * Checks a password within the bounds. Attempts are counted before the check, so that concurrent ones cannot exceed the bounds,
 * and uncounted when it succeeds or throws. Failures and lock-outs are recorded.
 *
 * Max failures of passwords in a quarter of an hour: 10 for each known device of the user and for the user's sessions together. For strangers
 * also 10 for an e-mail address from one network, 50 from one network, more from the wider networks around it, and 100 for an e-mail
 * address. So strangers lock each other out, and a known device only when the user fails there ten times. At 100 in a quarter of an hour, 3.5
 * million guesses a year, the weakest password that is accepted (10^10 guesses) is guessed within a year with a probability of 1 in 2,900.
 *
 * @param email in lower case.
 * @param check whether the password is right. Its hashes wait in the queue of `PasswordHasher`.
 * @throws {Problem} `too_many_sign_ins`, `too_many_attempts`, or `wrong_credentials`.
 */
export type Throttle = (request: Request, email: string, check: () => Promise<boolean>) => Promise<void>;

interface NamedBound extends Bound {
  name: LockOut | 'device';
  /** Whether a success removes all failures, not only this attempt. */
  isReset?: boolean;
}

const WINDOW_MS = 15 * 60_000;
const MAX = {
  device: 10,
  network: { narrow: 50, wide: 100, widest: 200 },
  emailFromNetwork: { narrow: 10, wide: 20, widest: 40 },
  email: 100,
};

export function createThrottle(
  { database, devices, hasher }: { database: Connection; devices: KnownDevices; hasher: PasswordHasher },
  record: SignInRecord,
): Throttle {
  async function undo(bounds: NamedBound[]): Promise<void> {
    for (const { key } of bounds) await returnSignInAttempt(database, key);
  }

  async function succeed(bounds: NamedBound[]): Promise<void> {
    for (const { key } of bounds.filter(({ isReset }) => isReset)) await forgetSignInAttempts(database, key);
    // The other counters lose only this attempt: signing in to one's own account must not reset the failures for other addresses.
    await undo(bounds.filter(({ isReset }) => !isReset));
  }

  /** The user of the session or device, with its bound; null for a stranger, and for a device with too many failures. */
  async function findTrusted(request: Request, email: string): Promise<{ userId: string; bound: NamedBound } | null> {
    const { person } = contextOf(request);
    const source =
      person?.email === email
        ? { userId: person.userId, deviceId: `session of ${person.userId}` }
        : await devices.find(request.headers.cookie, { email });
    if (!source) return null;
    const { userId, deviceId } = source;
    const bound: NamedBound = { name: 'device', key: digestOf('device', deviceId), max: MAX.device, isReset: true };
    return (await takeWithin(database, [bound], WINDOW_MS)) ? null : { userId, bound };
  }

  return async (request, email, check) => {
    const trusted = await findTrusted(request, email);
    const { narrow } = networksOf(request.ip ?? '');
    const requester: Requester = {
      // All devices of a user count as one requester.
      key: trusted ? trusted.userId : narrow,
      isTrusted: trusted !== null,
      signal: contextOf(request).closed,
    };
    const bounds = trusted ? [] : strangerBounds(request, email);
    const taken = trusted ? [trusted.bound, ...bounds] : bounds;
    const attempt = async () => {
      const exceeded = await takeWithin(database, bounds, WINDOW_MS);
      if (exceeded) {
        const { name } = exceeded.bound;
        if (exceeded.isFirst && name !== 'device') await record.lockedOut(request, email, name);
        throw tooManyAttempts(exceeded.msLeft);
      }
      const isRight = await check().catch(async (error: unknown) => {
        await undo(taken);
        throw error;
      });
      if (!isRight) {
        await record.failed(request, email);
        throw new Problem('wrong_credentials');
      }
      await succeed(taken);
    };
    let isAdmitted = false;
    try {
      await hasher.admit(requester, () => {
        isAdmitted = true;
        return attempt();
      });
    } catch (error) {
      if (trusted && !isAdmitted) await undo([trusted.bound]);
      throw error;
    }
  };
}

/** Those of an e-mail address follow those of the network of the same width. */
function strangerBounds({ ip = '' }: Request, email: string): NamedBound[] {
  const pairs = boundsAround(ip, MAX.emailFromNetwork, 'email from network', email);
  const around = boundsAround(ip, MAX.network, 'network').flatMap((bound): NamedBound[] => [
    { ...bound, name: 'network' },
    ...pairs
      .filter(({ width }) => width === bound.width)
      .map((pair) => ({ ...pair, name: 'emailFromNetwork' as const, isReset: pair.width === 'narrow' })),
  ]);
  return [...around, { name: 'email', key: digestOf('email', email), max: MAX.email }];
}
