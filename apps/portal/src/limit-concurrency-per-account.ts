import { Problem } from '@orders/domain/problems.ts';

const BUSY = {
  detail: 'This is already under way for this account. Retry when it has ended.',
  headers: { 'Retry-After': '1' },
};

/**
 * Limits an account to `max` concurrent pieces of costly work in this process, so that none takes all database connections. Work counts
 * until it ends, even if its client has disconnected.
 *
 * @throws {Problem} `rate_limited`.
 */
export function limitConcurrencyPerAccount(
  max: number,
): <Result>(accountId: number, work: () => Promise<Result>) => Promise<Result> {
  const underWay = new Map<number, number>();
  return async (accountId, work) => {
    const count = underWay.get(accountId) ?? 0;
    if (count >= max) throw new Problem('rate_limited', BUSY);
    underWay.set(accountId, count + 1);
    try {
      return await work();
    } finally {
      const left = (underWay.get(accountId) ?? 1) - 1;
      if (left > 0) underWay.set(accountId, left);
      else underWay.delete(accountId);
    }
  };
}
