import { type Connection, inTransaction } from '@orders/database/run.ts';
import { Problem } from '@orders/domain/problems.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { Request } from 'express';
import { contextOf, NO_ACCOUNT_ID } from './context.ts';

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

/** Runs work for a request, round-robin among the accounts that requests concern. */
export type FairLimiter = <Result>(request: Request, work: () => Promise<Result>) => Promise<Result>;

/**
 * Limits concurrent work, fairly among accounts. A request whose client disconnects while it waits leaves the queue, so the queue is
 * bounded by the number of connections.
 *
 * @throws {ClientDisconnectedError} for such a request.
 */
export function createFairLimiter(maxConcurrent: number): FairLimiter {
  const queue = createFairQueue<number>(maxConcurrent);
  return (request, work) => {
    const { accountId, person, closed } = contextOf(request);
    return queue(accountId ?? person?.memberships[0]?.accountId ?? NO_ACCOUNT_ID, work, closed);
  };
}

/** Runs a transaction under the limit for short work. */
export function transactFairly({ database, runShort }: { database: Connection; runShort: FairLimiter }) {
  return <Result>(request: Request, work: (transaction: Connection) => Promise<Result>): Promise<Result> =>
    runShort(request, () => inTransaction(database, work));
}

export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError';
}
