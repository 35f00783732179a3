import { createFairQueue } from '@orders/runtime/concurrency/fair-queue.ts';
import type { Request } from 'express';
import type { Knex } from 'knex';
import { contextOf, NO_ACCOUNT_ID } from './context.ts';

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
export function transactFairly({ knex, runShortFairly }: { knex: Knex; runShortFairly: FairLimiter }) {
  return <Result>(request: Request, work: (trx: Knex.Transaction) => Promise<Result>): Promise<Result> =>
    runShortFairly(request, () => knex.transaction(work));
}

export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError';
}
