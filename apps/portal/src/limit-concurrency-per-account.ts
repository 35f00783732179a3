import { Problem } from '@orders/domain';

const BUSY = {
  detail: 'This is already under way for this account. Retry when it has ended.',
  headers: { 'Retry-After': '1' },
};

/**
 * Lets an account have at most `max` pieces of costly work at once, in this process, so that none takes all of the database's connections.
 * Work counts until it ends, also when its client has disconnected.
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
