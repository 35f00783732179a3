import { createHash } from 'node:crypto';
import { Problem } from '@orders/domain';
import type pg from 'pg';
import { RateLimiterPostgres, type RateLimiterRes } from 'rate-limiter-flexible';

/** Failures of one e-mail address, and of one network address, within a quarter of an hour. */
const PER_EMAIL = 10;
const PER_ADDRESS = 50;
const WINDOW_SECONDS = 15 * 60;

/** Counts failed sign-ins for all portals together, in Postgres. */
export interface GuessLimits {
  /** @throws {Problem} `too_many_attempts` while either has failed too often. */
  refuseGuesser(email: string, address: string): Promise<void>;
  countFailure(email: string, address: string): Promise<void>;
  forgetFailures(email: string): Promise<void>;
}

export function createGuessLimits(pool: pg.Pool): GuessLimits {
  const limiter = (keyPrefix: string, points: number) =>
    new RateLimiterPostgres({
      storeClient: pool,
      tableName: 'sign_in_failures',
      tableCreated: true,
      keyPrefix,
      points,
      duration: WINDOW_SECONDS,
      clearExpiredByTimeout: false,
    });
  const byEmail = limiter('email', PER_EMAIL);
  const byAddress = limiter('address', PER_ADDRESS);
  // An address is personal data, and may be longer than a key of the table.
  const keyOf = (text: string) => createHash('sha256').update(text.toLowerCase()).digest('base64url');

  const isSpent = (failures: RateLimiterRes | null, points: number) =>
    failures !== null && failures.consumedPoints >= points && failures.msBeforeNext > 0;

  return {
    async refuseGuesser(email, address) {
      const [ofEmail, ofAddress] = await Promise.all([byEmail.get(keyOf(email)), byAddress.get(keyOf(address))]);
      const spent = [isSpent(ofEmail, PER_EMAIL) && ofEmail, isSpent(ofAddress, PER_ADDRESS) && ofAddress];
      const waits = spent.flatMap((failures) => (failures ? [failures.msBeforeNext] : []));
      if (waits.length === 0) return;
      const seconds = Math.ceil(Math.max(...waits) / 1000);
      throw new Problem('too_many_attempts', { headers: { 'Retry-After': String(seconds) } });
    },
    async countFailure(email, address) {
      await Promise.all([byEmail.penalty(keyOf(email), 1), byAddress.penalty(keyOf(address), 1)]);
    },
    async forgetFailures(email) {
      await byEmail.delete(keyOf(email));
    },
  };
}
